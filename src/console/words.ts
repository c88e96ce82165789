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
  "not taken": "its branch was not taken",
  "no longer wanted": "it was no longer wanted",
  "dst-gap": "the clock skipped this time",
  withdrawn: "the schedule was changed",
  permanent: "it was refused for good",
  "attempts used up": "no attempt was left",
  ambiguous: "nobody knows whether what it did outside happened",
  undeliverable: "no worker took any of its messages",
  unsettleable: "its result could not be written",
  "never started": "its task never started",
  postponed: "there was no room for its task yet",
  retry: "it failed and is tried again",
  interrupted: "its worker was stopped or lost",
  stopped: "its worker was told to stop",
  "task stopped": "its task was stopped",
  slot: "no slot was free",
  "message-lost": "its message was lost and is sent anew",
  "run now": "somebody did not want to wait",
  resumed: "the run goes on from what failed",
  canceled: "somebody canceled it",
  disabled: "its schedule was off",
  deleted: "its schedule was deleted",
  payload: "no payload could be made for it",
  "no-job": "no job of its version is defined any more",
  misfire: "it was missed and is not caught up",
};

export function reasonText(reason: string | null): string {
  if (reason === null) return "";
  const merged = /^into (\S+)T(\S+)$/.exec(reason);
  if (merged !== null) return `merged into that of ${merged[1]} ${merged[2]}`;
  return reasons[reason] ?? reason.replaceAll("-", " ");
}
