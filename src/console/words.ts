import type { State } from "./shape.ts";

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

/** One sentence for the legend and for whoever rests the pointer on a state. */
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
