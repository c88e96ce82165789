import { isFinal } from "../../src/core/job/state.ts";
import type { Evidence, EventFact, JobFact, RunFact } from "../invariants/evidence.ts";
import type { JobRow } from "../support/reference/rows.ts";
import { attempts } from "../support/reference/read.ts";
import { funnelOf } from "../support/reference/runs.ts";
import { childrenOf, transactionalKinds } from "./app.ts";
import type { Payload } from "./app.ts";
import type { World } from "./world.ts";

/** Whether everything that was asked for before `before` has come to an end. */
export function isAtRest(world: World, before: number): boolean {
  const t = world.reference.tables;
  const open = t.inStates("PENDING", "QUEUED", "RUNNING", "RETRY_WAIT");
  if (open.some((row) => !isFinal(row.state) && askedAt(row) < before)) return false;
  if (world.queue.deadCount > 0) return false;
  if ([...t.runs.values()].some((run) => run.finishedAt === null && run.createdAt < before)) return false;
  return ![...t.schedules.values()].some((row) => row.decidedUntil < before);
}

/** The tables as plain data, beside what everybody remembers. */
export function gather(world: World, endedBefore: number): Evidence {
  const t = world.reference.tables;
  for (const lane of ["default", "mail"]) {
    for (const { messageId } of world.queue.dead(lane)) world.queue.dropDead(lane, messageId, world.record, false);
  }
  return {
    ...world.record,
    transactional: t.effects.rows
      .filter((row) => row.text === "insert into effect")
      .map((row) => ({ key: "tx", jobId: String(row.values[0]), attempt: Number(row.values[1]) })),
    jobs: [...t.jobs.values()].map(jobFact),
    events: t.events.rows.map((row): EventFact => ({ ...row, jobId: String(row.jobId) })),
    attempts: attempts(t).map((row) => ({ ...row, jobId: String(row.jobId) })),
    slots: [...t.slots.values()].map((row) => ({ ...row, jobId: row.jobId === null ? null : String(row.jobId) })),
    openHandoffs: [...t.outbox.values()].map((row) => ({
      members: row.members.map(({ id, generation }) => ({ jobId: String(id), generation })),
    })),
    occurrences: [...t.occurrences.values()].map((row) => {
      return { ...row, jobId: row.jobId === null ? null : String(row.jobId) };
    }),
    runs: runFacts(world),
    expectedTimes: expectedTimes(world),
    caps: [
      { key: "cap:capped", size: 2, kinds: ["capped"] },
      { key: "lock:one", size: 1, kinds: ["locked"] },
    ],
    transactionalKinds,
    childrenOf,
    readAt: world.now(),
    endedBefore,
  };
}

/** For the end of a job counts when it was asked for: a retry moves the due time. */
const askedAt = (row: JobRow): number => row.scheduledFor ?? row.createdAt;

function jobFact(row: JobRow): JobFact {
  const { mark, parent, parentAttempt } = (row.payload ?? {}) as Partial<Payload>;
  const { kind, key, state, hold, generation, attempt, maxAttempts, failures, scheduleId } = row;
  const columns = { kind, key, state, hold, generation, attempt, maxAttempts, failures, scheduleId };
  return {
    id: String(row.id),
    ...columns,
    dueAt: askedAt(row),
    mark: mark ?? null,
    parentId: parent ?? null,
    parentAttempt: parentAttempt ?? null,
    runId: row.runId === null ? null : String(row.runId),
  };
}

function runFacts({ reference: { tables: t } }: World): readonly RunFact[] {
  // What people resume goes on beside whatever was started meanwhile.
  const resumed = new Set(
    t.events.rows.flatMap((event) => (event.reason === "resumed" ? (t.jobs.get(event.jobId)?.runId ?? []) : [])),
  );
  return [...t.runs.values()].map((run) => ({
    ...run,
    ...funnelOf(t, run),
    id: String(run.id),
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

/** Multiples of the period that was in force, from one release to the next and on to what is decided. */
function expectedTimes(world: World): Map<string, number[]> {
  const times = new Map<string, number[]>();
  for (const [id, eras] of world.record.eras) {
    const until = world.reference.tables.schedules.row(id).decidedUntil;
    const expected = eras.flatMap(({ from, everyMs, kept }, index) => {
      const to = Math.min(eras[index + 1]?.from ?? until, until);
      const first = Math.floor(from / everyMs) + 1;
      const count = Math.max(0, Math.floor(to / everyMs) - first + 1);
      return [...kept, ...Array.from({ length: count }, (_, n) => (first + n) * everyMs)];
    });
    times.set(id, expected);
  }
  return times;
}
