import { type ExitCode, exitCodes } from "./exit.ts";

const { ok, failure, usage, notFound, auth, conflict, partial, failedJob, interrupted } = exitCodes;

/** What each code says, in the words of `--help`. */
const meanings: Readonly<Record<ExitCode, string>> = {
  [ok]: "ok",
  [failure]: "failure",
  [usage]: "usage",
  [notFound]: "not found",
  [auth]: "not allowed",
  [conflict]: "conflict",
  [partial]: "partly done",
  [failedJob]: "a failed job or run was found",
  [interrupted]: "interrupted",
};

/** Commands that call an API: it may not answer or refuse access, and `--stage` may name one that is not deployed. */
const asks = [ok, failure, usage, notFound, auth, interrupted];
const steersMany = [...asks, conflict, partial];
const looksForFailed = [...asks, failedJob];
const inDatabases = [ok, failure, usage];
const machine = [ok, failure, usage, interrupted];

/** Which codes each command can end with. Tests produce each once and fail on any other. */
export const exits: Readonly<Record<string, readonly ExitCode[]>> = {
  "jobs list": looksForFailed,
  "jobs show": looksForFailed,
  "jobs enqueue": [...asks, conflict, failedJob],
  "jobs retry": steersMany,
  "jobs cancel": steersMany,
  "jobs run-now": steersMany,
  "runs list": looksForFailed,
  "runs show": looksForFailed,
  "runs watch": looksForFailed,
  "runs retry": [...asks, conflict],
  "runs cancel": [...asks, conflict],
  "runs rerun": [...asks, conflict],
  "schedules list": asks,
  "schedules upcoming": asks,
  "schedules show": asks,
  "schedules next": asks,
  "schedules history": asks,
  "schedules explain": asks,
  "schedules preview": asks,
  "schedules create": [...asks, conflict],
  "schedules update": [...asks, conflict],
  "schedules pause": [...asks, partial],
  "schedules resume": [...asks, partial],
  "schedules delete": steersMany,
  "schedules trigger": [...asks, failedJob],
  "schedules backfill": steersMany,
  "dead-letters list": looksForFailed,
  "dead-letters show": asks,
  "dead-letters redrive": [...asks, partial],
  "dead-letters stop": asks,
  "lanes list": asks,
  "lanes pause": asks,
  "lanes resume": asks,
  "lanes limit": asks,
  locks: asks,
  workers: asks,
  archive: asks,
  explain: asks,
  events: asks,
  kinds: asks,
  "cells show": inDatabases,
  "cells init": inDatabases,
  "cells move": inDatabases,
  "cells forget": inDatabases,
  completion: [ok, usage],
  check: asks,
  migrate: machine,
  doctor: machine,
  init: [ok, failure, usage, conflict],
  bundle: [ok, failure, usage],
  console: asks,
  dev: machine,
};

/** For `--help`: of one command, or of all. */
export function exitsText(codes: readonly ExitCode[] = Object.values(exitCodes)): string {
  const known = codes.toSorted((a, b) => a - b).map((code) => `${code} ${meanings[code]}`);
  return `\nExit codes: ${known.join(", ")}`;
}
