import type { Command } from "commander";
import { api } from "./api.ts";
import type { ScheduleReply } from "../api/shape/schedule.ts";
import type { ScheduleClient } from "./client.ts";
import { table } from "./output.ts";
import type { World } from "./world.ts";
import { pausedText } from "./pausing.ts";

/** The schedules of the API that this command line speaks to. */
export const client = (world: World, command: Command): ScheduleClient => api(world, command).schedule;

type Listed = Pick<ScheduleReply, "id" | "app" | "expression" | "timezone" | "kind" | "paused" | "enabled"> &
  Parameters<typeof pausedText>[0];

/** What every list of schedules begins with, below `heads`. */
export const cellsOf = (each: Listed): readonly string[] => {
  const { id, app, expression, timezone, kind, paused, enabled } = each;
  return [id, app, expression, timezone, kind, paused ? pausedText(each) : enabled ? "on" : "off"];
};
export const heads = ["ID", "APP", "WHEN", "ZONE", "RUNS", "STATUS"] as const;

/** One line a schedule. */
export function listText(schedules: readonly ScheduleReply[], isTerminal: boolean): string {
  if (schedules.length === 0) return "no schedules";
  const rows = schedules.map((each) => [...cellsOf(each), each.nextAt ?? ""]);
  return table([...heads, "NEXT"], rows, isTerminal);
}
