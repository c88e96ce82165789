import { FenceLost, type Fence } from "../../../src/machine/fence.ts";
import type { OutboxBatch } from "../../../src/machine/outbox.ts";
import type { Moved } from "../../../src/machine/transaction.ts";
import type { JobId } from "../../../src/machine/job.ts";
import { isFinal, isAllowed, states, type State } from "../../../src/machine/state.ts";
import { AppendOnly, Table, type Journal } from "./table.ts";
import type * as rows from "./rows.ts";
import type { JobRow } from "./rows.ts";

/** Who made a change and why; written into its event. */
export interface Why {
  readonly worker?: string | null;
  readonly reason?: string | null;
  readonly caller?: string | null | undefined;
}

/** All tables, the numbers they draw, and the one way a job changes its state. */
export class Tables {
  readonly journal: Journal = [];
  /** While it is true, the journal keeps the undo steps of committed statements too. */
  isTrial = false;
  readonly jobs = new Table<number, JobRow>(this.journal, (before, after) => this.#index(before, after));
  readonly events = new AppendOnly<rows.EventRow>(this.journal);
  readonly history = new AppendOnly<rows.KeptMove>(this.journal);
  readonly leases = new Table<number, rows.LeaseRow>(this.journal);
  readonly effects = new AppendOnly<rows.EffectRow>(this.journal);
  readonly quarantine = new AppendOnly<rows.QuarantineRow>(this.journal);
  readonly outbox = new Table<number, rows.OutboxRow>(this.journal);
  readonly groups = new Table<string, rows.GroupRow>(this.journal);
  readonly slots = new Table<string, rows.SlotRow>(this.journal);
  /** Who waits in the one seat of a queue-one group. */
  readonly seats = new Table<string, number>(this.journal);
  /** When the slots of a key of a cap were made. */
  readonly madeKeys = new Table<string, number>(this.journal);
  readonly fences = new Table<string, number>(this.journal);
  readonly fallbackLocks = new Table<string, rows.FallbackLockRow>(this.journal);
  readonly queueObservations = new Table<string, rows.ObservationRow>(this.journal);
  readonly lanes = new Table<string, rows.LaneRow>(this.journal);
  readonly turnLanes = new Table<string, rows.TurnLaneRow>(this.journal);
  readonly turns = new Table<
    string,
    { readonly lane: string; readonly key: string; readonly pass: number; readonly waits: boolean }
  >(this.journal);
  /** The newest burst of each key, as `keyOf` spells it. */
  readonly bursts = new Table<string, number>(this.journal);
  readonly circuits = new Table<string, rows.CircuitRow>(this.journal);
  readonly circuitCounts = new Table<
    string,
    { readonly name: string; readonly at: number; readonly code: string; readonly ends: number }
  >(this.journal);
  readonly schedules = new Table<string, rows.StoredSchedule>(this.journal);
  readonly eras = new AppendOnly<rows.EraRow>(this.journal);
  readonly occurrences = new Table<string, rows.OccurrenceRow>(this.journal);
  readonly runs = new Table<number, rows.RunRow>(this.journal);
  readonly successors = new Table<number, rows.EdgesRow>(this.journal);
  readonly predecessors = new Table<number, rows.EdgesRow>(this.journal);
  /** Ends that were not counted yet, by job. */
  readonly runDone = new Table<number, number>(this.journal);
  readonly predDeltas = new Table<number, rows.PredDeltaRow>(this.journal);
  readonly runDeltas = new Table<number, rows.RunDeltaRow>(this.journal);
  readonly #byRun = new Map<number, Set<number>>();
  readonly #byState = new Map<State, Set<number>>(states.map((state) => [state, new Set()]));
  readonly #byKey = new Map<string, number>();
  readonly #byOccurrence = new Map<number, string>();
  readonly now: () => number;
  readonly dispatchWindowMs: number;
  /** Draws the next number of a sequence. Like a real one it is not rolled back. */
  draw: (sequence: "job" | "event" | "outbox" | "run" | "delta" | "lease") => number;

  constructor(now: () => number, dispatchWindowMs: number) {
    this.now = now;
    this.dispatchWindowMs = dispatchWindowMs;
    const last = { job: 0, event: 0, outbox: 0, run: 0, delta: 0, lease: 0 };
    this.draw = (sequence) => (last[sequence] += 1);
  }

  /** Rows in one of these states, by id. */
  inStates(...wanted: readonly State[]): JobRow[] {
    const ids = wanted.flatMap((state) => [...(this.#byState.get(state) ?? [])]);
    return ids.toSorted((a, b) => a - b).map((id) => this.jobs.row(id));
  }

  count(state: State): number {
    return this.#byState.get(state)?.size ?? 0;
  }

  withKey(kind: string, key: string): JobRow | undefined {
    const id = this.#byKey.get(keyOf(kind, key));
    return id === undefined ? undefined : this.jobs.get(id);
  }

  /** The jobs of a run, by id. */
  inRun(runId: number): JobRow[] {
    return [...(this.#byRun.get(runId) ?? [])].toSorted((a, b) => a - b).map((id) => this.jobs.row(id));
  }

  occurrenceOf(jobId: number): rows.OccurrenceRow | undefined {
    const key = this.#byOccurrence.get(jobId);
    const row = key === undefined ? undefined : this.occurrences.get(key);
    return row?.jobId === jobId ? row : undefined;
  }

  putOccurrence(row: rows.OccurrenceRow): void {
    const key = occurrenceKey(row);
    this.occurrences.set(key, row);
    if (row.jobId !== null) this.#byOccurrence.set(row.jobId, key);
  }

  /** Checks the token as every fenced transaction does. */
  checkFence(fence: Fence | undefined): void {
    if (fence !== undefined && this.fences.get(fence.name) !== fence.token) {
      throw new FenceLost(`fence ${fence.name}: token ${fence.token} is not the installed one`);
    }
  }

  add(row: JobRow, reason: string | null = null): void {
    check(row);
    this.jobs.set(row.id, row);
    this.#tell(row, null, { reason });
  }

  /** Changes columns but not the state: no event. */
  change(row: JobRow, columns: Partial<JobRow>): JobRow {
    const next = { ...row, ...columns };
    guard(row, next);
    this.jobs.set(row.id, next);
    return next;
  }

  /** A message of this job goes out: QUEUED under a new generation. */
  queue(row: JobRow, columns: Partial<JobRow> = {}, why: Why = {}): JobRow {
    const handed = { state: "QUEUED", generation: row.generation + 1, handedAt: this.now() } as const;
    return this.move(row, { ...columns, ...handed }, why);
  }

  /** Moves a job to another state with its event, as the guard of the table allows. */
  move(row: JobRow, columns: Partial<JobRow> & { readonly state: State }, why: Why): JobRow {
    const finishedAt = isFinal(columns.state) ? this.now() : null;
    const next: JobRow = {
      ...row,
      hold: "none",
      heldOn: null,
      circuit: undefined,
      leaseId: null,
      finishedAt,
      ...columns,
    };
    guard(row, next);
    this.jobs.set(row.id, next);
    // The trigger of the table: an end that its mover does not count is left to the next resolve.
    if (next.runId !== null && isFinal(next.state) && !next.spread) this.runDone.set(next.id, next.runId);
    this.#tell(next, row, why, columns);
    if (row.leaseId !== null) this.#endLease(row.leaseId);
    if (next.state === "RUNNING" || isFinal(next.state)) this.#leaveSeats(next);
    return next;
  }

  /** One outbox batch row for each lane of these QUEUED rows. */
  dispatch(queued: readonly JobRow[]): OutboxBatch[] {
    const byLane = Map.groupBy(queued, (row) => row.lane);
    return [...byLane].map(([lane, members]) => {
      const id = this.draw("outbox");
      const batch = { id, at: this.now(), lane, members: members.map((row) => pick(row)), resent: 0 };
      this.outbox.set(id, batch);
      return this.batchOf(batch, members);
    });
  }

  /** The messages of these rows, as a sender gets them. */
  batchOf({ id, resent, lane }: rows.OutboxRow, members: readonly JobRow[]): OutboxBatch {
    const messages = members.map((row) => {
      return {
        jobId: idOf(row),
        generation: row.generation,
        trace: row.trace,
        delayMs: Math.max(0, row.dueAt - this.now()),
      };
    });
    return { id: String(id), resent, lane, messages };
  }

  /** The event of a move and, if the move is kept, its history. `changed` is what the move wrote. */
  #tell(row: JobRow, before: JobRow | null, why: Why, changed: Partial<JobRow> = {}): void {
    const event = {
      id: this.draw("event"),
      jobId: row.id,
      at: this.now(),
      from: before?.state ?? null,
      to: row.state,
      attempt: row.attempt,
      generation: row.generation,
      worker: why.worker ?? null,
      reason: why.reason ?? null,
    };
    this.events.append(event);
    const isEnd = before?.state === "RUNNING";
    if (isEnd ? row.state === "SUCCESS" : event.reason === null) return;
    this.history.append({
      ...event,
      id: String(event.id),
      caller: why.caller ?? null,
      startedAt: isEnd ? before.startedAt : null,
      errorCode: changed.errorCode ?? null,
      errorMessage: changed.errorMessage ?? null,
    });
  }

  /** A lease ends with the last job that holds it. */
  #endLease(id: number): void {
    if (!this.inStates("RUNNING").some((row) => row.leaseId === id)) this.leases.delete(id);
  }

  #leaveSeats(row: JobRow): void {
    for (const key of row.slotKeys) if (this.seats.get(key) === row.id) this.seats.delete(key);
  }

  #index(before: JobRow | undefined, after: JobRow | undefined): void {
    if (before?.state !== after?.state) {
      if (before !== undefined) this.#byState.get(before.state)?.delete(before.id);
      if (after !== undefined) this.#byState.get(after.state)?.add(after.id);
    }
    const one = after ?? before;
    if (one?.runId != null && (before === undefined || after === undefined)) {
      const members = this.#byRun.get(one.runId) ?? new Set();
      this.#byRun.set(one.runId, members);
      if (after === undefined) members.delete(one.id);
      else members.add(one.id);
    }
    if (before?.key === after?.key) return;
    if (before != null && before.key !== null) this.#byKey.delete(keyOf(before.kind, before.key));
    if (after != null && after.key !== null) this.#byKey.set(keyOf(after.kind, after.key), after.id);
  }
}

export const idOf = (row: { readonly id: number }): JobId => String(row.id) as JobId;

/** What a hook gets; a task's payload is its run's input. */
export const movedOf = (t: Tables, row: JobRow): Moved => ({
  jobId: idOf(row),
  kind: row.kind,
  payload: row.task === null || row.runId === null ? row.payload : t.runs.row(row.runId).input,
  state: row.state,
  attempt: row.attempt,
  errorCode: row.errorCode,
  errorMessage: row.errorMessage,
});

export const occurrenceKey = (row: { scheduleId: string; localTime: string; fold: number; timezone: string }): string =>
  JSON.stringify([row.scheduleId, row.localTime, row.fold, row.timezone]);

const pick = (row: JobRow) => ({ id: row.id, generation: row.generation });
const keyOf = (kind: string, key: string): string => JSON.stringify([kind, key]);

/** The trigger of the table: refuses any other move, from any caller. */
function guard(before: JobRow, after: JobRow): void {
  const moved = before.state !== after.state;
  if (after.generation < before.generation) fault(before, "generation may not go down");
  if (moved && !isAllowed(before.state, after.state)) fault(before, `may not become ${after.state}`);
  if (after.attempt !== before.attempt + (moved && after.state === "RUNNING" ? 1 : 0)) fault(before, "wrong attempt");
  if (moved && after.state === "QUEUED" && after.generation === before.generation) fault(before, "same generation");
  check(after);
}

/** The CHECK constraints of the table. */
function check(row: JobRow): void {
  if ((row.leaseId !== null) !== (row.state === "RUNNING")) fault(row, "a lease exactly while RUNNING");
  if (row.state === "RUNNING" && (row.worker === null || row.startedAt === null)) fault(row, "RUNNING has a worker");
  if ((row.finishedAt !== null) !== isFinal(row.state)) fault(row, "finished exactly when final");
  if (row.failures + row.interruptions > row.attempt) fault(row, "failures and interruptions are tries");
  if (row.hold !== "none" && row.state !== "PENDING" && row.state !== "RETRY_WAIT") fault(row, "held while waiting");
  if (row.blocked && row.state !== "PENDING" && row.state !== "CANCELED" && row.state !== "SKIPPED")
    fault(row, "blocked while waiting");
  if (row.predsOpen < 0 || row.predsOk < 0 || row.predsBad < 0) fault(row, "counters below 0");
  if ((row.heldOn !== null) !== (row.hold === "slot")) fault(row, "held on a slot");
}

function fault(row: JobRow, rule: string): never {
  throw new Error(`job ${row.id} (${row.state}, generation ${row.generation}, attempt ${row.attempt}): ${rule}`);
}
