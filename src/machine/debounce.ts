import type { Debounced, Json, Keep } from "./job.ts";

/** The same for all calls of a kind, as its definition says it. */
export interface DebounceRule extends Omit<Debounced, "key"> {
  readonly key: (payload: unknown) => string;
}

/** The payload of a burst after one more call. */
export const keptPayload = (keep: Keep, kept: Json, next: Json): Json =>
  keep === "last" ? next : keep === "first" ? kept : keep(kept, next);
