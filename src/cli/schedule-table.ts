import type { ScheduleReply } from "../api/shape/schedule.ts";
import type { ScheduleOutcomeReply } from "../api/shape/schedule-outcome.ts";
import type { Output } from "./output.ts";
import { tableOf } from "./read-command.ts";
import type { Command } from "commander";
import type { LanePauseReply } from "../api/shape/overview.ts";
import { wallTimeIn } from "./times.ts";

type Row = ScheduleReply | ScheduleOutcomeReply;

/** One line a schedule; of those with their last times also how the last one ended. */
export function scheduleTable(schedules: readonly Row[], out: Output): string {
  if (schedules.length === 0) return "no schedules";
  const last = { LAST: (each: Row) => ("last" in each ? lastText(each, out) : "") };
  const columns = {
    ID: (each: Row) => each.id,
    STATUS: (each: Row) => (each.paused ? pausedText(each) : each.enabled ? "on" : "off"),
    NEXT: (each: Row) => afterText(each.expression) ?? out.time(each.nextAt),
    ...(schedules.some((each) => "last" in each) ? last : {}),
    WHEN: (each: Row) => each.expression,
    ZONE: (each: Row) => each.timezone,
    RUNS: (each: Row) => each.kind,
    APP: (each: Row) => each.app,
  };
  return tableOf(out, columns, schedules);
}

/** `after nightly-billing` of one that follows a schedule: it has no times of its own. */
const afterText = (expression: string): string | null => /^after \S+/.exec(expression)?.[0] ?? null;

function lastText({ failingSince, last }: ScheduleOutcomeReply, out: Output): string {
  if (failingSince !== null) return `failing since ${out.time(failingSince)}`;
  return last.find(({ result }) => result !== null)?.result ?? "";
}

export interface PauseOptions {
  readonly until?: string;
  readonly reason?: string;
  readonly timezone?: string;
}

type Paused = Pick<LanePauseReply, "paused" | "pausedUntil" | "pauseReason">;

export const here = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

export const withPauseOptions = (command: Command): Command =>
  command
    .option(
      "--until <time>",
      "it ends by itself then: 2h, 6:00, 2026-11-23T06:00 or an instant with Z; default: a resume",
    )
    .option("--timezone <zone>", "IANA name, whose clock --until is read from; default: this machine's")
    .option("--reason <text>", "shown beside the pause");

export const pauseBodyOf = ({ until, reason, timezone = here() }: PauseOptions): object => ({
  reason,
  ...(until === undefined ? {} : { until, timezone }),
});

/** `paused until 2026-11-23 06:00:00 (Europe/Berlin): mail provider is away`. */
export function pausedText({ paused, pausedUntil, pauseReason }: Paused, zone = here()): string {
  if (!paused) return "on";
  const end = pausedUntil === null ? "" : ` until ${wallTimeIn(pausedUntil, zone)} (${zone})`;
  return `paused${end}${pauseReason === null ? "" : `: ${pauseReason}`}`;
}
