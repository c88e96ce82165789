import { type Hunted, startHunted } from "../hunted.ts";
import { turnSizes } from "../points.ts";
import { type Checklist, type Proof, seeded } from "../proof.ts";
import type { System } from "../system.ts";
import { elapsedMs, until } from "../until.ts";

const { places, ahead, agingMs } = turnSizes;
const serviceMs = 200;
const quietEveryMs = 150;
const weights = { one: 1, two: 2, four: 4 };

const jobOf = (customer: string, weight = 1, ms = serviceMs) => ({ payload: { customer, weight, ms } });
const many = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);

/** One customer floods the lane; four others come one by one. Then three share it by weight, under kills. */
export const fairnessProof: Proof = {
  name: "fairness",
  about: `the few jobs of four customers beside one customer's flood: those end in at most twice the time of an idle lane; weights 1:2:4 within 5 %, random kill -9, 2 % of the messages twice; never more than ${ahead} out`,
  guards: ["fairness"],
  async run(context, list) {
    const hunted = await startHunted(context, { app: "turns" });
    const { system } = hunted;
    // Workers are started, and the database is warm.
    await quietly(hunted, 20, "first");
    const idle = await quietly(hunted, Math.max(20, Math.round(100 * context.size)), "idle");
    const count = Math.round(4_000 * context.size);
    await hunted.enqueue("shared", many(count, jobOf("flood")), 0);
    await until("the flood to run", 60_000, async () => (await running(system)) >= places);
    const beside = await quietly(hunted, Math.max(20, Math.round(80 * context.size)), "quiet");
    await hunted.untilEnded();
    list.expect(
      "p99 beside the flood is at most twice that of an idle lane",
      beside.p99 <= 2 * idle.p99,
      `${beside.p99} ms to ${idle.p99} ms`,
    );
    list.figure(
      `a quiet job takes ${idle.p50} / ${idle.p99} ms (p50 / p99) alone, ${beside.p50} / ${beside.p99} ms beside the flood, which keeps ${(beside.busy * 100).toFixed(1)} % of ${places} places busy`,
    );
    await assessWeights(list, hunted, Math.round(1_400 * context.size));
    await hunted.succeeded(list);
    const most = await mostOut(system);
    list.expectAtMost(`never more than ${ahead} jobs are out, by the events`, most, ahead);
  },
};

const running = ({ count }: System): Promise<number> => count("belfry.job where state = 'RUNNING'");

interface Quiet {
  readonly p50: number;
  readonly p99: number;
  /** The share of the places that jobs took in that time. */
  readonly busy: number;
}

/** So many jobs of four customers, one by one; from enqueue to end. */
async function quietly({ system, enqueue }: Hunted, count: number, name: string): Promise<Quiet> {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const at = elapsedMs();
    ids.push(...(await enqueue("shared", [jobOf(`${name}-${n % 4}`)], 0)));
    await new Promise((next) => setTimeout(next, Math.max(0, quietEveryMs - (elapsedMs() - at))));
  }
  await until("the quiet jobs to end", 120_000, async () => {
    return (await system.count("belfry.job where id = any($1) and finished_at is not null", [ids])) === ids.length;
  });
  return await system.row<Quiet>(
    `with mine as (select * from belfry.job where id = any($1)), span as (select min(created_at) as since, max(created_at) as till from mine)
    select round(percentile_disc(0.5) within group (order by belfry.ms(finished_at) - belfry.ms(created_at)))::int as p50,
      round(percentile_disc(0.99) within group (order by belfry.ms(finished_at) - belfry.ms(created_at)))::int as p99, (
        select sum(belfry.ms(least(j.finished_at, s.till)) - belfry.ms(greatest(j.started_at, s.since)))::float8
          / (belfry.ms(min(s.till)) - belfry.ms(min(s.since)))::float8 / ${places}
        from belfry.job j cross join span s where j.started_at < s.till and j.finished_at > s.since
      ) as busy
    from mine`,
    [ids],
  );
}

/** By the order of the first dispatches, until the first of the three has none left. */
async function assessWeights(list: Checklist, hunted: Hunted, each: number): Promise<void> {
  const { system } = hunted;
  const items = Object.entries(weights).flatMap(([customer, weight]) => many(each, jobOf(customer, weight, 20)));
  const ids = await hunted.enqueue("shared", items, 0);
  hunted.kill(3_000);
  await hunted.sendSomeAgain(ids);
  await hunted.untilEnded();
  hunted.endKills();
  const rows = await system.rows<{ customer: string; n: number }>(
    `with first as (
      select j.payload ->> 'customer' as customer, min(e.id) as event from belfry.event e
      cross join lateral unnest(e.job_ids) as u (id) join belfry.job j on j.id = u.id
      where e.to_state = 'QUEUED' and j.id = any($1) group by j.id
    )
    select customer, count(*)::int as n from first
    where event <= (select min(last) from (select max(event) as last from first group by customer) l)
      and event > (select max(since) from (select min(event) as since from first group by customer) s)
    group by customer`,
    [ids],
  );
  const turns = new Map(rows.map(({ customer, n }) => [customer, n]));
  const unit = [...turns.values()].reduce((sum, n) => sum + n, 0) / 7;
  for (const [customer, weight] of Object.entries(weights)) {
    const share = (turns.get(customer) ?? 0) / unit / weight;
    list.expect(`weight ${weight} gets its turns within 5 %`, Math.abs(share - 1) <= 0.05, share.toFixed(3));
  }
  list.figure(
    `turns by weight 1:2:4 are ${Object.keys(weights)
      .map((key) => turns.get(key) ?? 0)
      .join(":")}, ${hunted.seen()}`,
  );
}

/** Jobs whose message was out, or that ran, at once. */
async function mostOut({ row }: System): Promise<number> {
  const { most } = await row<{ most: number }>(`
    with steps as (
      select e.id, sum((e.to_state in ('QUEUED', 'RUNNING'))::int - coalesce(e.from_state in ('QUEUED', 'RUNNING'), false)::int) as step
      from belfry.event e cross join lateral unnest(e.job_ids) as u (id) group by e.id
    ), at_once as (select sum(step) over (order by id) as n from steps)
    select max(n)::int as most from at_once`);
  return most;
}

/** What waits is sent by due time and priority, each level worth the aging of the lane. */
export const priorityProof: Proof = {
  name: "priority",
  about:
    "high, normal and low jobs of one lane: sent in the order of due time and level, none overtaken by one that is due more than its aging later, random kill -9, 2 % of the messages twice",
  guards: ["priority-levels"],
  async run(context, list) {
    const random = seeded(context.seed);
    const ids: string[] = [];
    // The lane is not installed yet, so all wait before the first is sent.
    const before = async (system: System): Promise<void> => {
      for (const kind of ["high", "normal", "low"]) {
        const items = many(Math.round(1_000 * context.size), undefined).map((payload) => ({
          payload,
          dueAt: new Date(Date.now() - random() * 4 * agingMs),
        }));
        ids.push(...(await system.enqueue(kind, items)).map(({ id }) => id));
      }
    };
    const hunted = await startHunted(context, { app: "turns", killEveryMs: 3_000, before });
    await hunted.sendSomeAgain(ids);
    await hunted.succeeded(list);
    const { passed, wait } = await overtaken(hunted.system);
    list.expectIs("none is sent before one whose time and level come first", passed, 0);
    list.expectAtMost(`none is overtaken by one that is due more than two levels later`, wait, 2 * agingMs);
    list.figure(
      `${ids.length} jobs, the latest due that went before a low one was due ${wait} ms after it, ${hunted.seen()}`,
    );
  },
};

/** By first dispatches: those behind one that had to be sent later; and by how much later another was due, at most. */
const overtaken = ({ row }: System): Promise<{ passed: number; wait: number }> =>
  row(
    `with first as (
      select min(e.id) as event, belfry.ms(j.created_at) as made, belfry.ms(min(j.first_due)) as due,
        case j.kind when 'high' then -1 when 'low' then 1 else 0 end as level
      from belfry.event e cross join lateral unnest(e.job_ids) as u (id)
      join (select *, due_at as first_due from belfry.job) j on j.id = u.id
      where e.to_state = 'QUEUED' and j.attempt = 1 and j.failures + j.interruptions = 0 group by j.id, j.created_at, j.kind
    ), ranked as (
      select *, due + level * $1::float8 as rank, max(due + level * $1::float8) over before as highest, max(due) over before as latest
      from first window before as (order by event groups between unbounded preceding and 1 preceding)
    )
    select count(*) filter (where rank < highest - 0.01)::int as passed, coalesce(max(latest - due) filter (where level = 1), 0)::int as wait
    from ranked`,
    [agingMs],
  );
