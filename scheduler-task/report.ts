import { DatabaseUnavailable, DatabaseUnfit } from "../src/postgres/failure.ts";
import { DefinitionProblems } from "../src/define/problem.ts";

/**
 * Held is success: another task does the work. The lock outage has a code of its own, so that an alarm can watch it, and so has a
 * job that FAILED.
 */
export const exitCodes = {
  done: 0,
  held: 0,
  refused: 0,
  "nothing-due": 0,
  disabled: 0,
  "fence-lost": 0,
  failure: 1,
  usage: 2,
  unknown: 2,
  "lock-outage": 3,
  "job-failed": 7,
} as const;

/** Of the job that a task runs, where its launch says so: only that lane's settings have to be there. */
export function ownLane(): { readonly lane?: string } {
  const lane = process.env["BELFRY_LANE"];
  return lane === undefined || lane === "" ? {} : { lane };
}

interface Report {
  readonly outcome: string;
  readonly heldBy?: string | null;
}

/** The last line of a task, for its starter and for display: which work it was, of `what`, and how it ended. */
export function print(command: string, report: Report, what: Readonly<Record<string, string | number>> = {}): void {
  console.log(JSON.stringify({ report: command, ...what, ...report }));
  if (report.outcome === "held") console.error(`held by ${report.heldBy ?? "another task"}`);
}

/** What went wrong, where its message already says what to do. @throws anything else, which ends the process with its stack. */
export function printFailure(error: unknown): void {
  const isExplained = [DefinitionProblems, DatabaseUnavailable, DatabaseUnfit].some((kind) => error instanceof kind);
  if (!isExplained) throw error;
  console.error((error as Error).message);
}
