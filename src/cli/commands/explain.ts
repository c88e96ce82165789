import { Command } from "commander";
import { api } from "../api.ts";
import { part } from "../client.ts";
import { type Output, printable } from "../output.ts";
import type { World } from "../world.ts";

interface Explanation {
  readonly sentence: string;
  readonly advice: string | null;
  readonly until: string | null;
  readonly waitsFor: readonly string[];
}

export function explainCommand(world: World, out: Output): Command {
  return new Command("explain")
    .description("why a job is not running, and when it will")
    .argument("<id>")
    .addHelpText("after", "\nExample:\n  $ npx belfry explain 42")
    .action(async (id: string, _: object, command: Command) => {
      const found = await api(world, command).get<Explanation>(`/jobs/${part(id)}/explain`);
      const lines = [
        `job ${id}: ${found.sentence}`,
        ...(found.waitsFor.length === 0 ? [] : [`waits for: ${found.waitsFor.map((job) => `job ${job}`).join(", ")}`]),
        ...(found.advice === null ? [] : [found.advice]),
      ];
      out.result(found, () => lines.map(printable).join("\n"));
    });
}
