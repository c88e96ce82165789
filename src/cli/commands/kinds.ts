import { Command } from "commander";
import type { KindListReply } from "../../api/shape/kind.ts";
import { api } from "../api.ts";
import type { Output } from "../output.ts";
import type { World } from "../world.ts";

export function kindsCommand(world: World, out: Output): Command {
  return new Command("kinds")
    .addHelpText("after", "\nExample:\n  $ npx belfry kinds")
    .action(async (_: object, command: Command) => {
      const found = await api(world, command).get<KindListReply>("/kinds");
      const rows = found.kinds.map((kind) => [
        kind.id,
        kind.lane,
        kind.graph === null ? (kind.makesRun ? "starts a run" : "") : `task of ${kind.graph}`,
        kind.payload === null ? "none" : membersOf(kind.payload),
        kind.app,
      ]);
      out.result(found, () => out.table(["KIND", "LANE", "RUN", "PAYLOAD", "APP"], rows));
    });
}

/** The members of an object, with a mark behind those that may be left out. */
function membersOf(schema: unknown): string {
  const { properties, required } = (schema ?? {}) as { properties?: object; required?: readonly string[] };
  if (properties === undefined) return "any";
  return Object.keys(properties)
    .map((name) => (required?.includes(name) === true ? name : `${name}?`))
    .join(", ");
}
