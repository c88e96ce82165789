import { type Hunted, startHunted } from "../hunted.ts";
import { batchSizes } from "../points.ts";
import type { Checklist, Proof } from "../proof.ts";
import type { System } from "../system.ts";

const callers = 12;
const tenants = 20;
/** Messages are delayed by whole seconds, and a killed worker's come back after the visibility timeout. */
const slackMs = 15_000;

/** Twelve callers of the same tenants, while workers die and messages come twice. */
export const batchProof: Proof = {
  name: "batch",
  about: `${callers} callers, 20,000 jobs of ${tenants} tenants, 2 % of the messages twice, random kill -9: each job starts once in an attempt, in calls of one tenant and at most ${batchSizes.max} jobs, and waits no longer than it may`,
  guards: ["batch-max", "batch-key"],
  async run(context, list) {
    const hunted = await startHunted(context, { app: "batch", killEveryMs: 5_000 });
    await call(hunted, Math.round(20_000 * context.size));
    await hunted.succeeded(list);
    const { calls, jobs } = await assess(list, hunted.system);
    list.figure(`${calls} calls of ${(jobs / calls).toFixed(2)} jobs, ${hunted.seen()}`);
  },
};

async function call({ system, random, sendSomeAgain }: Hunted, jobs: number): Promise<void> {
  const sum = { made: 0 };
  const caller = async (): Promise<void> => {
    while (sum.made < jobs) {
      const items = Array.from({ length: random() < 0.1 ? 8 : 1 }, () => ({
        payload: { tenant: `tenant-${Math.floor(random() * tenants)}`, n: (sum.made += 1) },
      }));
      const answers = await system.enqueue("index", items);
      await sendSomeAgain(answers.slice(0, 1).map(({ id }) => id));
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
}

async function assess(list: Checklist, { row, ledger }: System): Promise<{ calls: number; jobs: number }> {
  const starts = ledger.read().filter(({ what }) => what === "start");
  const attempts = new Set(starts.map(({ job, attempt }) => `${job} ${attempt}`));
  list.expect("each job starts once in an attempt", attempts.size === starts.length, starts.length - attempts.size);
  const calls = Map.groupBy(starts, ({ note }) => note.split(" ")[0]);
  const large = [...calls.values()].filter((jobs) => jobs.length > batchSizes.max).length;
  list.expectIs(`no call has more than ${batchSizes.max} jobs`, large, 0);
  const mixed = [...calls.values()].filter((jobs) => new Set(jobs.map(({ note }) => note)).size > 1).length;
  list.expectIs("no call has jobs of two tenants", mixed, 0);
  const { late } = await row<{ late: number }>(lateStarts, [batchSizes.waitMs + slackMs]);
  list.expectIs(`none starts later than ${batchSizes.wait} and ${slackMs} ms after its enqueue`, late, 0);
  return { calls: calls.size, jobs: starts.length };
}

/** $1 ms from the enqueue to the first start */
const lateStarts = `
select count(*)::int as late from belfry.event e cross join lateral unnest(e.job_ids, e.attempts) as u (id, attempt)
join belfry.job j on j.id = u.id
where e.to_state = 'RUNNING' and u.attempt = 1 and e.at > j.created_at + belfry.span($1::float8)`;
