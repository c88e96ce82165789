import type { Instant, JobId } from "./job.ts";
import type { Aftermath, Message } from "./outbox.ts";
import type { NewPause } from "./pause.ts";
import type { Actor } from "./transaction.ts";

/** When a lane or a kind starts nothing, by its definition. */
export interface LaneBlackouts {
  /** Or `kindName`, as everywhere here. */
  readonly lane: string;
  /** Each up to `until`, which is not in it. They may overlap. */
  readonly windows: readonly { readonly from: Instant; readonly until: Instant }[];
}

/** Lanes, and jobs that a person moves by hand. */
export interface LaneStore {
  /** In place of their windows from before. @returns how many lanes changed. */
  installBlackouts(lanes: readonly LaneBlackouts[]): Promise<number>;
  /**
   * Within a second no worker starts a job of the lane any more; jobs whose message arrives are put on hold. Null resumes it, and opens
   * it until the end of a blackout that it is in.
   */
  pauseLane(lane: string, pause: NewPause | null): Promise<void>;
  /** Of this lane and of all kinds those that are paused or in a blackout. */
  closed(lane: string): Promise<readonly string[]>;
  /** Of a closed lane or kind: QUEUED under that generation -> PENDING, on hold. @returns the ids that were held. */
  holdClosed(messages: readonly Message[]): Promise<readonly JobId[]>;
  /** Held jobs may start again, the earliest due first; the relay dispatches them. @returns how many. */
  unholdPaused(lane: string, limit: number): Promise<number>;
  /** The same for every lane that is not closed: of a pause that has ended by itself, or put on hold while their lane was resumed. @returns how many. */
  unholdOpen(limit: number): Promise<number>;
  /** PENDING or RETRY_WAIT, not blocked, not on hold -> QUEUED, due now. @returns the ids that were moved. */
  runNow(
    ids: readonly JobId[],
    options?: Actor,
  ): Promise<{ readonly ids: readonly JobId[]; readonly aftermath: Aftermath }>;
}
