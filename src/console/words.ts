import type { Count, Job, State } from "./shape.ts";

/** The word people read; the state's own name stays in the filter and the API. */
export const stateWords: Readonly<Record<State, string>> = {
  PENDING: "Pending",
  QUEUED: "Queued",
  RUNNING: "Running",
  RETRY_WAIT: "Retry wait",
  SUCCESS: "Success",
  FAILED: "Failed",
  CANCELED: "Canceled",
  SKIPPED: "Skipped",
};

/** One sentence for whoever rests the pointer on a state. */
export const stateMeanings: Readonly<Record<State, string>> = {
  PENDING: "Waits for its time, for predecessors or for a slot",
  QUEUED: "A message is on its way to a worker",
  RUNNING: "A worker has claimed it",
  RETRY_WAIT: "A try failed; the next one has a time",
  SUCCESS: "Done",
  FAILED: "Out of tries or refused for good: waits for a person",
  CANCELED: "Ended by a person",
  SKIPPED: "Decided not to run; the reason is written down",
};

/** How often it was tried, and what counts against the tries it has. */
export function triesText({
  attempt,
  failures,
  maxAttempts,
}: Pick<Job, "attempt" | "failures" | "maxAttempts">): string {
  if (attempt === 0) return `not tried yet, up to ${maxAttempts} failures`;
  return failures === 0 ? `no failure (try ${attempt})` : `failure ${failures} of ${maxAttempts} (try ${attempt})`;
}

const format = new Intl.NumberFormat("en-US");

/** `12,345`, or `10,000+` for a count that stopped there. */
export const counted = (value: number | Count): string =>
  typeof value === "number" ? format.format(value) : `${format.format(value.count)}${value.isMore ? "+" : ""}`;

export const plural = (value: number | Count, one: string, many = `${one}s`): string =>
  `${counted(value)} ${value === 1 || (typeof value === "object" && value.count === 1 && !value.isMore) ? one : many}`;

/** Reasons as they are stored, in words. One that is not listed is shown as it is. */
const reasons: Readonly<Record<string, string>> = {
  "lock-held": "another job held its lock",
  overlap: "the one before was still running",
  paused: "its schedule was paused",
  expired: "its time had passed",
  "branch-not-taken": "its branch was not taken",
  "not-wanted": "it was no longer wanted",
  "dst-gap": "the clock skipped this time",
  withdrawn: "the schedule was changed",
  permanent: "it was refused for good",
  retry: "it failed and is tried again",
  interrupted: "its worker was stopped or lost",
  slot: "no slot was free",
  "message-lost": "its message was lost and is sent anew",
  disabled: "its schedule was off",
  deleted: "its schedule was deleted",
  payload: "its payload is not valid",
  misfire: "it was missed and is not caught up",
};

export const reasonText = (reason: string | null): string =>
  reason === null ? "" : (reasons[reason] ?? reason.replaceAll("-", " "));
