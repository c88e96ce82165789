import type { Instant, Json, OnRefusal } from "../../../src/core/job.ts";
import type { Carry, OccurrenceOutcome, ScheduleSpec } from "../../../src/core/schedule.ts";
import type { State } from "../../../src/core/state.ts";

/** The columns of table `job` that exist before runs do. Ids are numbers here and strings at the port. */
export interface JobRow {
  readonly id: number;
  readonly kind: string;
  readonly key: string | null;
  readonly payload: Json;
  readonly payloadHash: string;
  readonly lane: string;
  readonly state: State;
  readonly hold: "none" | "paused" | "slot";
  readonly heldOn: string | null;
  readonly dueAt: Instant;
  readonly expiresAt: Instant | null;
  readonly generation: number;
  readonly attempt: number;
  readonly failures: number;
  readonly interruptions: number;
  readonly deadLetters: number;
  readonly maxAttempts: number;
  readonly leaseMs: number;
  readonly retentionMs: number;
  readonly suspect: boolean;
  readonly alone: boolean;
  readonly slotKeys: readonly string[];
  readonly scheduleId: string | null;
  readonly scheduledFor: Instant | null;
  readonly catchUp: boolean;
  readonly missed: number;
  readonly trace: string;
  readonly worker: string | null;
  readonly startedAt: Instant | null;
  readonly leaseUntil: Instant | null;
  readonly progress: number | null;
  /** When its newest message was handed off. */
  readonly handedAt: Instant | null;
  readonly finishedAt: Instant | null;
  readonly result: Json | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly createdAt: Instant;
}

export interface AttemptRow {
  readonly jobId: number;
  readonly attempt: number;
  readonly worker: string;
  readonly startedAt: Instant;
  readonly endedAt: Instant;
  readonly outcome: State;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
}

export interface EventRow {
  readonly id: number;
  readonly jobId: number;
  readonly at: Instant;
  readonly from: State | null;
  readonly to: State;
  readonly attempt: number;
  readonly generation: number;
  readonly worker: string | null;
  readonly reason: string | null;
}

export interface HandoffRow {
  readonly id: number;
  readonly at: Instant;
  readonly lane: string;
  readonly members: readonly { readonly id: number; readonly generation: number }[];
}

export interface GroupRow {
  readonly key: string;
  readonly size: number;
  readonly onRefusal: OnRefusal;
  readonly reason: string;
}

export interface SlotRow {
  readonly key: string;
  readonly n: number;
  readonly jobId: number | null;
  readonly attempt: number | null;
  /** A canceled job keeps its slot until its handler is gone, or until this instant. */
  readonly freeFrom: Instant | null;
}

export interface StoredSchedule {
  readonly id: string;
  readonly version: number;
  readonly paused: boolean;
  readonly spec: ScheduleSpec;
  readonly decidedUntil: Instant;
  readonly nextAt: Instant | null;
  readonly carry: Carry | null;
  /** Left out: `code`. */
  readonly source?: "code" | "api";
  readonly ledgerFrom?: Instant;
}

/** What was in force when. A null spec: deleted. */
export interface EraRow {
  readonly scheduleId: string;
  readonly version: number;
  readonly spec: ScheduleSpec | null;
  readonly fromAt: Instant;
}

export interface OccurrenceRow {
  readonly scheduleId: string;
  readonly localTime: string;
  readonly fold: 0 | 1;
  readonly timezone: string;
  readonly nominalAt: Instant;
  readonly outcome: OccurrenceOutcome;
  readonly reason: string | null;
  readonly version: number;
  readonly jobId: number | null;
  readonly catchUp: boolean;
  readonly decidedAt: Instant | null;
  readonly latenessMs: number | null;
}

/** The lock row that stands in for the lock store. */
export interface StandInRow {
  readonly name: string;
  readonly owner: string | null;
  readonly fence: number;
  readonly leaseUntil: Instant;
}

export interface QuarantineRow {
  readonly at: Instant;
  readonly lane: string;
  readonly body: string;
}

/** A row an app wrote through `tx.query` in the same transaction: what an effect inside this database is. */
export interface EffectRow {
  readonly text: string;
  readonly values: readonly unknown[];
}
