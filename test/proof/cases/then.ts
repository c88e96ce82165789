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

/** The first end speaks in a job that follows every end. A try that a kill took away did not refuse: such a run is DONE at once. */
async function assess(list: Checklist, system: System, count: number): Promise<void> {
  const { rows } = await system.pool.query<{ kind: string; n: number; outcome: string | null; wanted: string }>(`
    select r.kind, (r.input->>'n')::int as n, c.payload->>'outcome' as outcome,
      case when r.kind = 'billing-end' and exists (
        select from belfry.history h join belfry.job j on j.id = h.job_id where j.run_id = r.id and h.to_state = 'FAILED'
      ) then 'FAILED' else 'DONE' end as wanted
    from belfry.run r left join belfry.job c on c.kind = 'close' and c.state = 'SUCCESS' and c.key = 'then:' || r.id
    where r.state = 'DONE'`);
  list.expect("every run is DONE in the end", rows.length === count * 2, rows.length);
  list.expectNone(
    "each run is followed, with the outcome of its first end",
    rows.flatMap(({ kind, n, outcome, wanted }) => (outcome === wanted ? [] : [`${kind} ${n}: ${outcome}`])),
  );
}
