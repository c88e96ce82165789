import type { Command } from "commander";
import type { LanePauseReply } from "../api/shape/overview.ts";
import { wallTimeIn } from "./times.ts";

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
