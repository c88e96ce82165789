import type { HistoryRow, Instant, JobView, Json, OnRefusal } from "../../../src/machine/job.ts";
import type { Carry, OccurrenceView, ScheduleRow, ScheduleSpec } from "../../../src/machine/schedule.ts";
import type { LaneBlackouts } from "../../../src/machine/lane-store.ts";
import type { Pause } from "../../../src/machine/pause.ts";
import type { JoinRule } from "../../../src/machine/join.ts";
import type { Turn, TurnLane } from "../../../src/machine/turn.ts";
import type { NewRun, RunState, TaskWait } from "../../../src/machine/run.ts";

export interface LaneRow extends Pick<LaneBlackouts, "windows"> {
  readonly pause: Pause | null;
  readonly openedUntil: Instant;
}

/** The columns of table `job`. Ids are numbers here and strings at the port. */
export interface JobRow extends Omit<JobView, "id" | "leaseUntil" | "runId" | "payloadBytes"> {
  readonly id: number;
  readonly expiresAt: Instant | null;
  readonly deadLetters: number;
  readonly leaseMs: number;
  readonly retentionMs: number;
  readonly alone: boolean;
  readonly catchUp: boolean;
  readonly missed: number;
  readonly runId: number | null;
  readonly predsOpen: number;
  readonly predsOk: number;
  readonly predsBad: number;
  readonly join: JoinRule;
  readonly wide: boolean;
  readonly hasCondition: boolean;
  readonly askedRow: Json | null;
  readonly notTaken: boolean;
  readonly wait: TaskWait | null;
  readonly signaledAt: Instant | null;
  readonly signaledBy: string | null;
  /** Its end was counted by its successors and its run. */
  readonly spread: boolean;
  /** Set exactly while RUNNING. */
  readonly leaseId: number | null;
  /** The lane or kind that holds it. */
  readonly closedName?: string | undefined;
  /** The circuit that holds it. */
  readonly circuit?: string | undefined;
  readonly turn?: Turn | undefined;
  /** When its newest message was dispatched. */
  readonly handedAt: Instant | null;
}

/** One for the jobs of one claim with the same lane and lease length. */
export interface LeaseRow {
  readonly id: number;
  readonly worker: string;
  readonly lane: string;
  readonly leaseMs: number;
  readonly until: Instant;
  /** Its job was claimed alone, so it is to blame when its worker is lost. */
  readonly alone: boolean;
  /** Why its worker is dead or stands still, if that was seen. */
  readonly cause: string | null;
}

export interface KeptMove extends HistoryRow {
  readonly jobId: number;
}

export interface EventRow extends Omit<HistoryRow, "id" | "caller" | "startedAt" | "errorCode" | "errorMessage"> {
  readonly id: number;
  readonly jobId: number;
}

export interface OutboxRow {
  readonly id: number;
  readonly at: Instant;
  readonly lane: string;
  readonly members: readonly { readonly id: number; readonly generation: number }[];
  readonly resent: number;
}

export interface GroupRow {
  readonly key: string;
  readonly size: number;
  readonly windowMs: number | undefined;
  readonly onRefusal: OnRefusal;
  readonly reason: string;
}

export interface SlotRow {
  readonly key: string;
  readonly n: number;
  readonly jobId: number | null;
  readonly attempt: number | null;
  /** Reserved for the claim of its QUEUED job under this generation. */
  readonly keptFor: number | null;
  /** A canceled job keeps its slot until its handler is gone, or until this instant. */
  readonly freeFrom: Instant | null;
}

export interface TurnLaneRow extends TurnLane {
  readonly pass: number;
}

export interface CircuitRow {
  readonly openUntil: Instant | null;
  readonly ended: number;
  readonly failed: number;
  readonly code: string;
  /** As it was when it was chosen. */
  readonly probe: Pick<JobRow, "id" | "failures"> | null;
  readonly page: number;
  /** Retries have their times up to then. */
  readonly retryAt: Instant;
}

export interface StoredSchedule extends Omit<ScheduleRow, "source" | "carry"> {
  readonly carry: Carry | null;
  /** Left out: `code`. */
  readonly source?: "code" | "api";
  readonly ledgerFrom?: Instant;
  /** A removal cancels the jobs that wait of versions below it. */
  readonly canceledBelow?: number;
}

/** What was in force when. A null spec: deleted. */
export interface EraRow {
  readonly scheduleId: string;
  readonly version: number;
  readonly spec: ScheduleSpec | null;
  readonly fromAt: Instant;
}

export interface OccurrenceRow extends Omit<OccurrenceView, "jobId"> {
  readonly jobId: number | null;
  readonly catchUp: boolean;
}

/** The lock row that stands in for the lock store. */
export interface FallbackLockRow {
  readonly name: string;
  readonly owner: string | null;
  readonly fence: number;
  readonly leaseUntil: Instant;
}

export interface ObservationRow {
  readonly emptySince: Instant;
  readonly seenAt: Instant;
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

export interface RunRow extends Omit<NewRun, "tasks" | "starterId" | "parentId"> {
  readonly id: number;
  readonly state: RunState;
  /** Its starter ended without sealing it: it closes FAILED. */
  readonly orphaned: boolean;
  readonly starterId: number | null;
  readonly parentId: number | null;
  readonly stopped: boolean;
  readonly cursor: Json | null;
  /** The job that an end of it wrote. */
  readonly continuedBy: number | null;
  readonly funnel: Funnel;
  readonly createdAt: Instant;
  readonly finishedAt: Instant | null;
  /** Written ahead of this nominal time, which has not been decided yet, by this schedule. */
  readonly ahead: { readonly of: Instant; readonly by: string } | null;
  readonly canceledBy: string | null;
  readonly withdrawn: "withdrawn" | "paused" | null;
}

/** What is added up: every count only grows, except by a resume. */
export interface Funnel {
  readonly total: number;
  readonly done: number;
  readonly ok: number;
  readonly failed: number;
  readonly skipped: number;
}

/** All edges out of one job, and those into one. */
export interface EdgesRow {
  readonly to: readonly number[];
}

/** A predecessor of a wide join that ended and was not added up yet. */
export interface PredDeltaRow {
  readonly toId: number;
  readonly runId: number;
  readonly ok: number;
  readonly bad: number;
}

export interface RunDeltaRow extends Funnel {
  readonly runId: number;
}
