import { Command } from "commander";
import type { JobExplanationReply } from "../../api/shape/explanation.ts";
import { api } from "../api.ts";
import { part } from "../client.ts";
import type { Output } from "../output.ts";
import { printable } from "../printable.ts";
import type { World } from "../world.ts";

export function explainCommand(world: World, out: Output): Command {
  return new Command("explain")
    .argument("<id>")
    .addHelpText("after", "\nExample:\n  $ npx belfry explain 42")
    .action(async (id: string, _: object, command: Command) => {
      const found = await api(world, command).get<JobExplanationReply>(`/jobs/${part(id)}/explain`);
      const lines = [
        `job ${id}: ${found.sentence}`,
        ...(found.waitsFor.length === 0 ? [] : [`waits for: ${found.waitsFor.map((job) => `job ${job}`).join(", ")}`]),
        ...(found.advice === null ? [] : [found.advice]),
      ];
      out.result(found, () => lines.map(printable).join("\n"));
    });
}
