import { resumeRun } from "../../../src/insight/run-control.ts";
import type { RunId } from "../../../src/machine/job.ts";
import { type ChaosQueue, startChaosQueue } from "../chaos-queue.ts";
import { ambiguousJobs, judge } from "../judge.ts";
import { killNowAndThen } from "../killer.ts";
import { type Checklist, type Proof, seeded } from "../proof.ts";
import { startSystem, type System } from "../system.ts";
import { readTables } from "../tables.ts";
import { until } from "../until.ts";

const runsOfEach = 150;
const killEveryMs = 1_500;
const schedulerEveryMs = 15_000;
const endMs = 280_000;
const chaos = { duplicate: 0.5, lost: 0, refused: 0.05, late: 0.2, replyLost: 0.03 };

/** Runs end, some are resumed and end again, while every process is killed and messages come twice. */
export const thenProof: Proof = {
  name: "then",
  about:
    "runs that end, and end again, under kills of workers and schedulers and doubled messages: each is followed once",
  guards: ["followed"],
  async run(context, list) {
    const random = seeded(context.seed);
    let queue: ChaosQueue | null = null;
    const system = await startSystem(context, {
      app: "then",
      lane: () => ({ visibilityTimeoutSeconds: 4 }),
      async inFrontOfSqs(target) {
        queue = await startChaosQueue(target, { chaos, scale: 10, random });
        return queue;
      },
    });
    await system.install();
    const count = Math.max(6, Math.round(runsOfEach * context.size));
    const fleet = system.fleet({ deadLetters: true });
    const wakes = system.wakes({ everyMs: 500 });
    const killer = killNowAndThen(system, () => fleet.pids("default"), { everyMs: killEveryMs, random });
    const ofScheduler = setInterval(() => wakes.current().signal("SIGKILL"), schedulerEveryMs);
    const items = Array.from({ length: count }, (_, n) => ({ key: String(n), payload: { n } }));
    for (const kind of ["billing-success", "billing-end"]) await system.enqueue(kind, items);
    await untilEnded(system, count * 2);
    await resumeFailed(system);
    await untilEnded(system, count * 2);
    killer.stop();
    clearInterval(ofScheduler);
    await until("all jobs to end", endMs, async () => (await system.openJobs()) === 0);
    await wakes.stop();
    await fleet.stop();
    await judge(list, system, { ambiguous: ambiguousJobs(await readTables(system.pool), system.processes.killed()) });
    await assess(list, system, count);
    list.expect("processes were killed", killer.count() > 0, killer.count());
    list.figure(
      `${count * 2} runs, ${Math.ceil(count / 3) * 2} of them ended twice, ${killer.count()} processes killed`,
    );
  },
};

const untilEnded = (system: System, runs: number): Promise<unknown> =>
  until(
    "all runs to end",
    endMs,
    async () => (await system.count("belfry.run where finished_at is not null")) === runs,
  );

async function resumeFailed({ pool, runtime }: System): Promise<void> {
  const { rows } = await pool.query<{ id: RunId }>("select id from belfry.run where state = 'FAILED' order by id");
  for (const { id } of rows) await resumeRun(runtime.ports, id);
}

interface Followed {
  readonly kind: string;
  readonly n: number;
  readonly writers: number;
  readonly closes: number;
  readonly outcome: string | null;
  /** A try that a kill took away did not refuse: such a run is DONE at its first end. */
  readonly failed: boolean;
}

/** One writer and one follower for each run; of one that follows every end, the first end speaks. */
async function assess(list: Checklist, system: System, count: number): Promise<void> {
  const { rows } = await system.pool.query<Followed>(`
    select r.kind, (r.input->>'n')::int as n, w.n as writers, c.n as closes, c.outcome,
      exists (
        select from belfry.history h join belfry.job j on j.id = h.job_id where j.run_id = r.id and h.to_state = 'FAILED'
      ) as failed
    from belfry.run r
    cross join lateral (
      select count(*)::int as n from belfry.job where kind = r.kind || '.then' and payload->>'runId' = r.id::text
    ) w
    cross join lateral (
      select count(*)::int as n, min(payload->>'outcome') as outcome
      from belfry.job where kind = 'close' and state = 'SUCCESS' and key = 'then:' || r.id
    ) c
    where r.state = 'DONE'`);
  list.expect("every run is DONE in the end", rows.length === count * 2, rows.length);
  const wanted = ({ kind, failed }: Followed): string => (kind === "billing-end" && failed ? "FAILED" : "DONE");
  list.expectNone(
    "each run has one job that its end wrote and one that follows it, with the outcome of that end",
    rows.flatMap((row) => {
      const { kind, n, writers, closes, outcome } = row;
      return writers === 1 && closes === 1 && outcome === wanted(row)
        ? []
        : [`${kind} ${n}: ${writers} written, ${closes} follow, ${outcome}`];
    }),
  );
  const { rows: strays } = await system.pool.query<{ n: number }>(
    "select count(*)::int as n from belfry.job where kind = 'close'",
  );
  list.expect("nothing else follows", strays[0]?.n === count * 2, strays[0]?.n);
}
