import type pg from "pg";
import { contractLimits } from "../src/machine/contract-limits.ts";
import type { JobId } from "../src/machine/job.ts";
import type { Claimed, Settlement, Store } from "../src/machine/store.ts";
import type { Message } from "../src/machine/outbox.ts";
import type { NewRun, NewTask } from "../src/machine/run.ts";
import { newJobs } from "./rows.ts";

/** Empties what a round of runs filled. */
export async function emptyRuns(pool: pg.Pool): Promise<void> {
  await pool.query(
    `truncate belfry.job, belfry.lease, belfry.event, belfry.history, belfry.outbox, belfry.edge, belfry.run, belfry.run_done,
      belfry.run_delta, belfry.pred_delta, raw.job`,
  );
}

export const aRun = (key: string, tasks: readonly NewTask[]): NewRun => ({
  kind: "graph",
  key,
  version: 1,
  shape: "bench",
  input: null,
  onFailure: "skip-downstream",
  tolerate: 0,
  continuation: null,
  retentionMs: contractLimits.retentionMsDefault,
  trace: "trace",
  starterId: null,
  parentId: null,
  sealed: true,
  tasks,
});

/** Tasks by the places of their predecessors. */
export function tasksOf(after: readonly (readonly number[])[]): readonly NewTask[] {
  const jobs = newJobs(after.length, "task");
  return jobs.map((job, n) => ({
    task: `task-${n}`,
    job: { ...job, key: null, payload: null },
    after: after[n] ?? [],
    join: "all",
    hasCondition: false,
  }));
}

/** Who claims, and so who may settle. */
export const claimant = "worker-0";

/** Starts a run and claims all that it hands off. */
export async function claimed(store: Store, run: NewRun): Promise<readonly Claimed[]> {
  const { aftermath } = await store.startRun(run);
  const messages = aftermath.outbox.flatMap((batch) => batch.messages);
  const running: Claimed[] = [];
  for (let from = 0; from < messages.length; from += 500) {
    const page = messages.slice(from, from + 500);
    running.push(...(await store.claim(page, { worker: claimant, alone: false })).claimed);
  }
  if (running.length !== messages.length) throw new Error(`${running.length} of ${messages.length} jobs were claimed`);
  return running;
}

/** One join over `width` tasks that all run. */
export async function startedRun(
  { store, pool }: { readonly store: Store; readonly pool: pg.Pool },
  { key, width }: { key: string; width: number },
): Promise<{ running: readonly Claimed[]; joinId: JobId }> {
  const roots = Array.from({ length: width }, () => []);
  const running = await claimed(store, aRun(key, tasksOf([...roots, Array.from(roots.keys())])));
  const { rows } = await pool.query<{ id: JobId }>("select id from belfry.job where state = 'PENDING' and blocked");
  const [join] = rows;
  if (join === undefined) throw new Error("the join is not there");
  return { running, joinId: join.id };
}

/** RUNNING rows of the bare table. */
export async function loadRunning(pool: pg.Pool, rows: number): Promise<readonly Message[]> {
  const { rows: loaded } = await pool.query<{ id: JobId }>(
    `insert into raw.job (kind, payload, payload_hash, lane, max_attempts, lease_ms, retention_ms, trace, created_at, state,
       due_at, generation, attempt, worker, started_at, lease_until, run_id)
     select 'noop', 'null', '', 'default', 4, 20000, ${contractLimits.retentionMsDefault}, 'trace', belfry.now(), 'RUNNING',
       belfry.now(), 1, 1, 'raw', belfry.now(), belfry.now() + interval '20 s', 1
     from generate_series(1, $1) returning id`,
    [rows],
  );
  return loaded.map(({ id }) => ({ jobId: id, generation: 1, trace: "trace" }));
}

/** Its success, as a worker settles it. */
export const successOf = ({ jobId, attempt }: Claimed): Settlement => ({
  jobId,
  attempt,
  to: "SUCCESS",
  reason: null,
  delayMs: 0,
  failures: 0,
  interruptions: 0,
  errorCode: null,
  errorMessage: null,
  result: null,
  children: [],
  inRun: true,
});
