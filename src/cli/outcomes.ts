import type { OccurrenceEndReply, ScheduleOutcomeReply } from "../api/shape/schedule-outcome.ts";
import { table } from "./output.ts";
import { cellsOf, heads } from "./schedules.ts";

/** One line a schedule, with how its last time ended. */
export function outcomesText(schedules: readonly ScheduleOutcomeReply[], isTerminal: boolean): string {
  if (schedules.length === 0) return "no schedules";
  const rows = schedules.map((each) => [...cellsOf(each), each.nextAt ?? "", lastText(each)]);
  return table([...heads, "NEXT", "LAST"], rows, isTerminal);
}

function lastText({ failingSince, last }: ScheduleOutcomeReply): string {
  if (failingSince !== null) return `failing since ${failingSince}`;
  return last.find(({ result }) => result !== null)?.result ?? "";
}

/** The state of the run, if the job started one, else that of the job. */
export const endStateText = (end: OccurrenceEndReply | null): string => end?.run?.state ?? end?.state ?? "";

export const endErrorText = (end: OccurrenceEndReply | null): string =>
  end?.error == null ? "" : [end.error.code, end.error.message].filter((part) => part !== null).join(": ");
