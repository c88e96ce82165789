import { Command } from "commander";
import { apiAddress } from "../address.ts";
import { apiClient, type Schedule } from "../client.ts";
import { type Output, table } from "../output.ts";
import type { World } from "../run.ts";

export function schedulesCommand(world: World, out: Output): Command {
  const schedules = new Command("schedules").description("look at schedules");
  schedules.addCommand(
    new Command("list")
      .description("every schedule; times up to the look-ahead (5 minutes) are planned already")
      .addHelpText("after", "\nExample:\n  $ npx belfry schedules list --json")
      .action(async (_: object, command: Command) => {
        const url = apiAddress(command.optsWithGlobals<{ url?: string }>().url, world.env, world.folder);
        const answer = await apiClient(url).schedules();
        out.result(answer, () => listText(answer.schedules, world.streams.isTerminal));
      }),
  );
  return schedules;
}

function listText(schedules: readonly Schedule[], isTerminal: boolean): string {
  if (schedules.length === 0) return "no schedules";
  const rows = schedules.map((each) => [
    each.id,
    each.app,
    each.expression,
    each.timezone,
    each.kind,
    each.paused ? "paused" : each.enabled ? "on" : "off",
    each.nextAt ?? "",
  ]);
  return table(["ID", "APP", "WHEN", "ZONE", "RUNS", "STATUS", "NEXT TO PLAN"], rows, isTerminal);
}
