import type { Command } from "commander";
import { api } from "./api.ts";
import type { ScheduleReply } from "../api/shape/schedule.ts";
import type { ScheduleOutcomeReply } from "../api/shape/schedule-outcome.ts";
import type { ScheduleClient } from "./client.ts";
import type { Output } from "./output.ts";
import type { World } from "./world.ts";
import { pausedText } from "./pausing.ts";

/** The schedules of the API that this command line speaks to. */
export const client = (world: World, command: Command): ScheduleClient => api(world, command).schedule;

/** One line a schedule; of those with their last times also how the last one ended. */
export function listText(schedules: readonly (ScheduleReply | ScheduleOutcomeReply)[], out: Output): string {
  if (schedules.length === 0) return "no schedules";
  const hasLast = schedules.some((each) => "last" in each);
  const rows = schedules.map((each) => {
    const { id, nextAt, expression, timezone, kind, app, enabled } = each;
    const status = each.paused ? pausedText(each) : enabled ? "on" : "off";
    const last = "last" in each ? [lastText(each, out)] : [];
    return [id, status, out.time(nextAt), ...last, expression, timezone, kind, app];
  });
  return out.table(["ID", "STATUS", "NEXT", ...(hasLast ? ["LAST"] : []), "WHEN", "ZONE", "RUNS", "APP"], rows);
}

function lastText({ failingSince, last }: ScheduleOutcomeReply, out: Output): string {
  if (failingSince !== null) return `failing since ${out.time(failingSince)}`;
  return last.find(({ result }) => result !== null)?.result ?? "";
}
