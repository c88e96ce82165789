/** Exit codes: stable, for scripts. */
export const exitCodes = {
  ok: 0,
  failure: 1,
  usage: 2,
  notFound: 3,
  auth: 4,
  conflict: 5,
  partial: 6,
  failedJob: 7,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Ends the command with a message on stderr and an exit code. Expected failures only: a bug keeps its stack. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exitCode: ExitCode;
  /** For `--json`: stable, for programs. */
  readonly code: string;
  /** One line each, shown below the message. */
  readonly details: readonly string[];
  constructor(exitCode: ExitCode, code: string, message: string, details: readonly string[] = []) {
    super(message);
    this.exitCode = exitCode;
    this.code = code;
    this.details = details;
  }
}

/** What was typed cannot be done: the message says how to write it. */
export const wrongUsage = (code: string, message: string, details: readonly string[] = []): CliError =>
  new CliError(exitCodes.usage, code, message, details);

/** What an error says, also of what is thrown and is none. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Thrown by a command that has written its result and ends with another code than 0. */
export class Finished extends Error {
  readonly exitCode: ExitCode;
  constructor(exitCode: ExitCode) {
    super(`exit code ${exitCode}`);
    this.exitCode = exitCode;
  }
}

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

const commandsByExits: readonly (readonly [codes: readonly ExitCode[], commands: string])[] = [
  [looksForFailed, "jobs list, jobs show, runs list, runs show, runs watch, dead-letters list"],
  [[...asks, conflict, failedJob], "jobs enqueue"],
  [[ok, failure, usage, notFound, conflict, failedJob], "jobs run"],
  [steersMany, "jobs retry, jobs cancel, jobs run-now"],
  [[...asks, partial], "schedules pause, schedules resume, dead-letters redrive"],
  [steersMany, "schedules delete, schedules backfill"],
  [[...asks, conflict], "runs retry, runs cancel, runs rerun, runs signal, schedules create, schedules update"],
  [
    asks,
    "schedules list, schedules upcoming, schedules simulate, schedules objectives, schedules show, schedules next, schedules history, schedules explain, schedules preview",
  ],
  [
    asks,
    "dead-letters show, dead-letters stop, lanes list, lanes pause, lanes resume, lanes limit, lanes limits, locks, workers, archive, costs, explain, events, kinds, check, console, mcp",
  ],
  [[...asks, failedJob], "schedules trigger"],
  [inDatabases, "cells show, cells init, cells move, cells forget"],
  [[ok, usage], "completion, import crontab, import eventbridge"],
  [[...asks, partial], "import pg-boss, import graphile-worker"],
  [machine, "migrate, doctor, dev"],
  [[ok, failure, usage, conflict], "init"],
  [[ok, failure, usage], "bundle"],
];

/** Which codes each command can end with. Tests produce each once and fail on any other. */
export const exits: Readonly<Record<string, readonly ExitCode[]>> = Object.fromEntries(
  commandsByExits.flatMap(([codes, commands]) => commands.split(", ").map((command) => [command, codes])),
);

/** For `--help`: of one command, or of all. */
export function exitsText(codes: readonly ExitCode[] = Object.values(exitCodes)): string {
  const known = codes.toSorted((a, b) => a - b).map((code) => `${code} ${meanings[code]}`);
  return `\nExit codes: ${known.join(", ")}`;
}
