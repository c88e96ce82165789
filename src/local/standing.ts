/** Which code runs in which parts, since when, and what became of the newest save. */
import type { RejectedSave, RunningCode } from "../api/saves.ts";

export interface CodeInUse {
  /** Setup has installed its schedules, limits and tables. */
  installed(version: string): void;
  /** Every part runs it: what was refused before no longer counts. */
  runs(version: string, parts: readonly string[]): void;
  refuse(save: Omit<RejectedSave, "at">): void;
  now(): RunningCode;
}

export function standing(version: string, parts: readonly string[]): CodeInUse {
  const now = (): string => new Date().toISOString();
  const begin = { version, since: now() };
  let current: RunningCode = { ...begin, parts, definitions: begin, refused: null };
  const at = (before: { version: string; since: string }, next: string) =>
    before.version === next ? { version: next, since: before.since } : { version: next, since: now() };
  return {
    installed(next) {
      current = { ...current, definitions: at(current.definitions, next) };
    },
    runs(next, by) {
      current = { ...current, ...at(current, next), parts: by, refused: null };
    },
    refuse(save) {
      current = { ...current, refused: { ...save, at: now() } };
    },
    now: () => current,
  };
}

/** For example `the code of 04:01:22 UTC runs on in scheduler, API, lane default`. */
export function standingText({ version, since, parts, definitions }: RunningCode): string {
  const runs = `the code of ${timeOf(since)} runs on in ${parts.join(", ")}`;
  if (definitions.version === version) return runs;
  return `${runs}, with the schedules, limits and tables that were saved at ${timeOf(definitions.since)}`;
}

const timeOf = (iso: string): string => `${iso.slice(11, 19)} UTC`;
