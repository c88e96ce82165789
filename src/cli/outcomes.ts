import type { Schedule } from "./client.ts";
import { table } from "./output.ts";

/** How the job of a time, or the run that it started, stands. */
export interface EndedBy {
  readonly end: {
    readonly state: string | null;
    readonly run: { readonly id: string; readonly state: string } | null;
    readonly tookMs: number | null;
    readonly error: { readonly code: string; readonly message: string | null } | null;
  } | null;
}

/** What became of a schedule's last times. */
export interface Outcomes {
  readonly firesAt: string | null;
  readonly last: readonly { readonly result: "succeeded" | "failed" | "stopped" | "open" | null }[];
  readonly failingSince: string | null;
}

/** One line a schedule, with how its last time ended. */
export function outcomesText(schedules: readonly (Schedule & Outcomes)[], isTerminal: boolean): string {
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

function lastText({ failingSince, last }: Outcomes): string {
  if (failingSince !== null) return `failing since ${failingSince}`;
  return last.find(({ result }) => result !== null)?.result ?? "";
}

/** The state of the run, if the job started one, else that of the job. */
export const endStateText = (end: EndedBy["end"]): string => end?.run?.state ?? end?.state ?? "";

export const endErrorText = (end: EndedBy["end"]): string =>
  end?.error == null ? "" : [end.error.code, end.error.message].filter((part) => part !== null).join(": ");
