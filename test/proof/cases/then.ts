import { resumeRun } from "../../../src/insight/run-control.ts";
import type { RunId } from "../../../src/machine/job.ts";
import { startHunted } from "../hunted.ts";
import type { Checklist, Proof } from "../proof.ts";
import type { System } from "../system.ts";
import { until } from "../until.ts";

const runsOfEach = 150;
const endMs = 280_000;

/** Runs end, some are resumed and end again, while every process is killed and messages come twice. */
export const thenProof: Proof = {
  name: "then",
  about:
    "runs that end, and end again, under kills of workers and schedulers and doubled messages and a restore: each is followed once",
  guards: ["followed", "lost-ids"],
  async run(context, list) {
    const hunted = await startHunted(context, {
      app: "then",
      chaos: true,
      loses: true,
      killEveryMs: 1_500,
      schedulerEveryMs: 15_000,
    });
    const { system } = hunted;
    const count = Math.max(6, Math.round(runsOfEach * context.size));
    const items = Array.from({ length: count }, (_, n) => ({ key: String(n), payload: { n } }));
    await system.enqueue("billing-success", items);
    await untilEnded(system, Math.ceil(count / 4));
    await hunted.lose(async () => {
      await system.enqueue("billing-end", items);
      await untilEnded(system, count);
    });
    await untilEnded(system, count * 2);
    await resumeFailed(system);
    await untilEnded(system, count * 2);
    await hunted.judged(list);
    await assess(list, system, count);
    list.figure(`${count * 2} runs, ${Math.ceil(count / 3) * 2} of them ended twice, ${hunted.seen()}`);
  },
};

const untilEnded = (system: System, runs: number): Promise<unknown> =>
  until(
    `${runs} runs to end`,
    endMs,
    async () => (await system.count("belfry.run where finished_at is not null")) >= runs,
  );

async function resumeFailed({ rows, runtime }: System): Promise<void> {
  const failed = await rows<{ id: RunId }>("select id from belfry.run where state = 'FAILED' order by id");
  for (const { id } of failed) await resumeRun(runtime.ports, id);
}

/** The first end speaks in a job that follows every end. A try that a kill took away did not refuse: such a run is DONE at once. */
async function assess(list: Checklist, system: System, count: number): Promise<void> {
  const rows = await system.rows<{ kind: string; n: number; outcome: string | null; wanted: string }>(`
    select r.kind, (r.input->>'n')::int as n, c.payload->>'outcome' as outcome,
      case when r.kind = 'billing-end' and exists (
        select from belfry.history h join belfry.job j on j.id = h.job_id where j.run_id = r.id and h.to_state = 'FAILED'
      ) then 'FAILED' else 'DONE' end as wanted
    from belfry.run r left join belfry.job c on c.kind = 'close' and c.state = 'SUCCESS' and c.key = 'then:' || r.id
    where r.state = 'DONE'`);
  list.expectIs("every run is DONE in the end", rows.length, count * 2);
  list.expectNone(
    "each run is followed, with the outcome of its first end",
    rows.flatMap(({ kind, n, outcome, wanted }) => (outcome === wanted ? [] : [`${kind} ${n}: ${outcome}`])),
  );
}
