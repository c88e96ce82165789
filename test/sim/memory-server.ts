import { isFinal } from "../../src/machine/state.ts";
import type { Store } from "../../src/machine/store.ts";
import type { EventFact, JobFact, RunFact } from "../invariants/evidence.ts";
import { referenceStore, type ReferenceStore } from "../support/reference-store.ts";
import { attempts } from "../support/reference/read.ts";
import type { JobRow, RunRow } from "../support/reference/rows.ts";
import { funnelOf } from "../support/reference/runs.ts";
import { idOf } from "../support/reference/tables.ts";
import { labelsOf } from "./labels.ts";
import { dispatchWindowMs, type SimServer, type TableFacts } from "./server.ts";

/** The reference store: a run takes milliseconds. */
export function memoryServer(now: () => number, plant: (base: ReferenceStore) => Store): SimServer {
  const reference = referenceStore(now, { dispatchWindowMs });
  const t = reference.tables;
  const store = plant(reference);
  return {
    storeOf: () => store,
    settled: () => new Promise((resolve) => setImmediate(resolve)),
    isAtRest: async (before) => {
      const open = t.inStates("PENDING", "QUEUED", "RUNNING", "RETRY_WAIT");
      if (open.some((row) => !isFinal(row.state) && askedAt(row) < before)) return false;
      if ([...t.runs.values()].some((run) => run.finishedAt === null && run.createdAt < before)) return false;
      return ![...t.schedules.values()].some((row) => row.decidedUntil < before);
    },
    newestJobs: async (limit) =>
      [...t.jobs.values()]
        .map(idOf)
        .toSorted((a, b) => Number(b) - Number(a))
        .slice(0, limit),
    scheduleFound: async (id) => {
      const fromAt = t.eras.rows.findLast((era) => era.scheduleId === id)?.fromAt ?? 0;
      const decided = [...t.occurrences.values()]
        .filter((row) => row.scheduleId === id && row.outcome !== "PLANNED" && row.nominalAt > fromAt)
        .map((row) => row.nominalAt);
      return { fromAt, decided };
    },
    facts: async () => factsOf(reference),
    close: async () => {},
  };
}

function factsOf({ tables: t }: ReferenceStore): TableFacts {
  return {
    transactional: t.effects.rows
      .filter((row) => row.text.startsWith("insert into effect"))
      .map((row) => ({ key: "tx", jobId: String(row.values[0]), attempt: Number(row.values[1]) })),
    jobs: [...t.jobs.values()].map(jobFact),
    events: t.events.rows.map((row): EventFact => ({ ...row, jobId: String(row.jobId) })),
    attempts: attempts(t).map((row) => ({ ...row, jobId: String(row.jobId) })),
    slots: [...t.slots.values()].map((row) => ({ ...row, jobId: row.jobId === null ? null : String(row.jobId) })),
    openBatches: [...t.outbox.values()].map((row) => ({
      members: row.members.map(({ id, generation }) => ({ jobId: String(id), generation })),
    })),
    occurrences: [...t.occurrences.values()].map((row) => {
      return { ...row, jobId: row.jobId === null ? null : String(row.jobId) };
    }),
    runs: runFacts(t),
    decidedUntil: new Map([...t.schedules.values()].map((row) => [row.id, row.decidedUntil])),
  };
}

/** For the end of a job counts when it was asked for: a retry moves the due time. */
const askedAt = (row: JobRow): number => row.scheduledFor ?? row.createdAt;

function jobFact(row: JobRow): JobFact {
  const { kind, key, state, hold, generation, attempt, maxAttempts, failures, scheduleId } = row;
  const columns = { kind, key, state, hold, generation, attempt, maxAttempts, failures, scheduleId };
  return {
    id: String(row.id),
    ...columns,
    dueAt: askedAt(row),
    ...labelsOf(row),
    runId: row.runId === null ? null : String(row.runId),
  };
}

const asksForJob = ({ continuation, state, withdrawn }: RunRow): boolean =>
  continuation !== null &&
  (continuation.on === "end" || { success: "DONE", failure: "FAILED" }[continuation.on] === state) &&
  withdrawn === null;

function runFacts(t: ReferenceStore["tables"]): readonly RunFact[] {
  // What people resume goes on beside what was started in between.
  const resumed = new Set(
    t.events.rows.flatMap((event) => (event.reason === "resumed" ? (t.jobs.get(event.jobId)?.runId ?? []) : [])),
  );
  return [...t.runs.values()].map((run) => ({
    ...run,
    ...funnelOf(t, run),
    id: String(run.id),
    isFollowed: asksForJob(run),
    starterId: run.starterId === null ? null : String(run.starterId),
    overlapKey: resumed.has(run.id) ? null : overlapKeyOf(t.jobs.get(run.starterId ?? 0)),
    tasks: t.inRun(run.id).map((row) => ({
      jobId: String(row.id),
      state: row.state,
      notTaken: row.notTaken,
      blocked: row.blocked,
      join: row.join,
      after: (t.predecessors.get(row.id)?.to ?? []).map(String),
      preds: { open: row.predsOpen, ok: row.predsOk, bad: row.predsBad },
    })),
  }));
}

const overlapKeyOf = (starter: JobRow | undefined): string | null =>
  starter?.slotKeys.find((key) => key.startsWith("overlap:")) ?? null;
