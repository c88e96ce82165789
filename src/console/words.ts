import type { ShownCount, ShownJob, JobState } from "./shape.ts";

/** The word people read; the state's own name stays in the filter and the API. */
export const stateWords: Readonly<Record<JobState, string>> = {
  PENDING: "Pending",
  QUEUED: "Queued",
  RUNNING: "Running",
  RETRY_WAIT: "Retry wait",
  SUCCESS: "Success",
  FAILED: "Failed",
  CANCELED: "Canceled",
  SKIPPED: "Skipped",
};

/** One sentence a state, shown under the pointer. */
export const stateMeanings: Readonly<Record<JobState, string>> = {
  PENDING: "Waits for its time, for predecessors or for a slot",
  QUEUED: "A message is on its way to a worker",
  RUNNING: "A worker has claimed it",
  RETRY_WAIT: "An attempt failed; the next one has a time",
  SUCCESS: "Done",
  FAILED: "Out of attempts or refused for good: needs attention",
  CANCELED: "Canceled before it ended",
  SKIPPED: "Decided not to run; the reason is written down",
};

/** How many attempts there were, and how many failures of those it may have. */
export function triesText({
  attempt,
  failures,
  maxAttempts,
}: Pick<ShownJob, "attempt" | "failures" | "maxAttempts">): string {
  if (attempt === 0) return `none yet, up to ${maxAttempts} failures`;
  return failures === 0 ? `${attempt}, no failure` : `${attempt}, ${failures} of ${maxAttempts} failures used`;
}

const format = new Intl.NumberFormat("en-US");

/** `12,345`, or `10,000+` for a count that stopped there. */
export const counted = (value: number | ShownCount): string =>
  typeof value === "number" ? format.format(value) : `${format.format(value.count)}${value.isMore ? "+" : ""}`;

export const plural = (value: number | ShownCount, one: string, many = `${one}s`): string =>
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
  ambiguous: "it is unknown whether its effect outside happened",
  undeliverable: "no worker took any of its messages",
  unsettleable: "its result could not be written",
  "never started": "its task never started",
  postponed: "there was no room for its task yet",
  retry: "it failed and is tried again",
  interrupted: "its worker was stopped or lost",
  stopped: "its worker was stopped",
  "task stopped": "its task was stopped",
  slot: "no slot was free",
  "message-lost": "its message was lost and sent again",
  "run now": "it was made due by hand",
  resumed: "the run goes on from what failed",
  canceled: "it was canceled by hand",
  disabled: "its schedule was off",
  deleted: "its schedule was deleted",
  payload: "no payload could be made for it",
  "no-job": "its version is no longer defined",
  misfire: "it was missed and is not caught up",
};

export function reasonText(reason: string | null): string {
  if (reason === null) return "";
  const merged = /^into (\S+)T(\S+)$/.exec(reason);
  if (merged !== null) return `merged into that of ${merged[1]} ${merged[2]}`;
  return reasons[reason] ?? reason.replaceAll("-", " ");
}
