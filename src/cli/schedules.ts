import type { Command } from "commander";
import { api } from "./api.ts";
import type { ScheduleReply } from "../api/shape/schedule.ts";
import type { ScheduleClient } from "./client.ts";
import { table } from "./output.ts";
import type { World } from "./world.ts";
import { pausedText } from "./pausing.ts";

/** The schedules of the API that this command line speaks to. */
export const client = (world: World, command: Command): ScheduleClient => api(world, command).schedule;

/** One line a schedule. */
export function listText(schedules: readonly ScheduleReply[], isTerminal: boolean): string {
  if (schedules.length === 0) return "no schedules";
  const rows = schedules.map((each) => [
    each.id,
    each.app,
    each.expression,
    each.timezone,
    each.kind,
    each.paused ? pausedText(each) : each.enabled ? "on" : "off",
    each.nextAt ?? "",
  ]);
  return table(["ID", "APP", "WHEN", "ZONE", "RUNS", "STATUS", "NEXT"], rows, isTerminal);
}
