import { Command } from "commander";
import type { UpcomingReply } from "../../api/shape/upcoming.ts";
import type { Output } from "../output.ts";
import { here } from "../pausing.ts";
import { client } from "../schedules.ts";
import { relativeTime, spanText, wallTimeIn } from "../times.ts";
import type { World } from "../world.ts";

export function upcomingCommand(world: World, out: Output): Command {
  return new Command("upcoming")
    .description("what all schedules will start, with what may keep it from running, and the load of each lane")
    .option("--hours <count>", "1 to 24", "1")
    .option("--app <app>", "of this app only")
    .option("--lane <lane>", "of this lane only")
    .option("--timezone <zone>", "IANA name, whose clock is shown; default: this machine's")
    .addHelpText("after", "\nExample:\n  $ npx belfry schedules upcoming --hours 24 --lane mail")
    .action(async (given: Record<"hours" | "app" | "lane" | "timezone", string | undefined>, command: Command) => {
      const { hours, app, lane, timezone = here() } = given;
      const found = await client(world, command).upcoming({ hours, app, lane });
      out.result(found, () => upcomingText(found, timezone, out));
      if (found.isMore) out.note("some schedules fire more often than is looked at: there are more times");
    });
}

function upcomingText(found: UpcomingReply, zone: string, out: Output): string {
  const { from, times, lanes } = found;
  if (times.length === 0) return "nothing is scheduled in this span";
  const rows = times.map((each) => [
    wallTimeIn(each.at, zone),
    relativeTime(each.at, Date.parse(from)),
    each.schedule,
    each.kind,
    each.lane,
    riskText(each),
  ]);
  const loads = lanes.map(({ lane, times: count, unknown, expectedMs, capacityMs, busiest }) => [
    lane,
    String(count),
    `${spanText(expectedMs)}${unknown === 0 ? "" : ` and ${unknown} of unknown length`}`,
    capacityMs === null ? "" : spanText(capacityMs),
    busiest === null ? "" : `${Math.round(busiest.share * 100)} % at ${wallTimeIn(busiest.at, zone)}`,
  ]);
  return [
    out.table([`AT (${zone})`, "IN", "SCHEDULE", "KIND", "LANE", "RISK"], rows),
    "",
    out.table(["LANE", "TIMES", "EXPECTED WORK", "CAPACITY", "BUSIEST"], loads),
  ].join("\n");
}

const riskText = ({ paused, capped, mayOverlap }: UpcomingReply["times"][number]): string =>
  [
    paused ? "paused: will be skipped" : null,
    capped ? "its cap may be full" : null,
    mayOverlap ? "the one before may not have ended" : null,
  ]
    .filter((risk) => risk !== null)
    .join("; ");
