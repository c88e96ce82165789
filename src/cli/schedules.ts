import type { Command } from "commander";
import { api } from "./api.ts";
import type { OccurrenceEnd, Schedule, ScheduleClient, ScheduleOutcome } from "./client.ts";
import { table } from "./output.ts";
import type { World } from "./world.ts";

/** The schedules of the API that this command line speaks to. */
export const client = (world: World, command: Command): ScheduleClient => api(world, command).schedule;

/** One line a schedule. */
export function listText(schedules: readonly Schedule[], isTerminal: boolean): string {
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
  return table(["ID", "APP", "WHEN", "ZONE", "RUNS", "STATUS", "NEXT"], rows, isTerminal);
}

/** One line a schedule, with how its last time ended. */
export function outcomesText(schedules: readonly ScheduleOutcome[], isTerminal: boolean): string {
  if (schedules.length === 0) return "no schedules";
  const rows = schedules.map((each) => [
    each.id,
    each.app,
    each.expression,
    each.timezone,
    each.kind,
    each.paused ? "paused" : each.enabled ? "on" : "off",
    each.firesAt ?? "",
    lastText(each),
  ]);
  return table(["ID", "APP", "WHEN", "ZONE", "RUNS", "STATUS", "NEXT", "LAST"], rows, isTerminal);
}

function lastText({ failingSince, last }: ScheduleOutcome): string {
  if (failingSince !== null) return `failing since ${failingSince}`;
  return last.find(({ result }) => result !== null)?.result ?? "";
}

/** The state of the run, if the job started one, else that of the job. */
export const endStateText = (end: OccurrenceEnd | null): string => end?.run?.state ?? end?.state ?? "";

export const endErrorText = (end: OccurrenceEnd | null): string =>
  end?.error == null ? "" : [end.error.code, end.error.message].filter((part) => part !== null).join(": ");
