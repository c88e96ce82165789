import { startHunted } from "../hunted.ts";
import { perKeySizes } from "../points.ts";
import type { Proof } from "../proof.ts";
import type { System } from "../system.ts";
import { elapsedMs } from "../until.ts";

const jobs = 20_000;
const customers = 10_000;
const workers = 12;
const { each, total } = perKeySizes;

/** Twelve workers, ten thousand customers of which some are busy, three of each and twenty in all. */
export const perKey: Proof = {
  name: "per-key",
  about: `12 workers, 20,000 jobs of 10,000 customers, ${each} of each and ${total} in all, 2 % of the messages twice, random kill -9: 0 breaches, every key forgotten`,
  guards: ["per-key", "slot-lock"],
  async run(context, list) {
    const hunted = await startHunted(context, {
      app: "per-key",
      lane: () => ({ visibilityTimeoutSeconds: 6, concurrency: workers }),
    });
    const { system, random } = hunted;
    const count = Math.round(jobs * context.size);
    const startedMs = elapsedMs();
    const items = Array.from({ length: count }, (_, n) => ({
      payload: { n, customer: `c${Math.floor(customers * random() ** 4)}` },
    }));
    await hunted.enqueue("by-customer", items);
    hunted.kill(4_000);
    await hunted.untilEnded(540_000 * Math.max(1, context.size));
    const seconds = (elapsedMs() - startedMs) / 1_000;
    await hunted.succeeded(list, { caps: [{ key: "cap:by-customer", size: total, kinds: ["by-customer"] }] });
    const most = await mostAtOnce(system);
    list.expectAtMost(`never more than ${each} of one customer at once, by the ledger`, most.key, each);
    list.expectAtMost(`never more than ${total} at once, by the ledger`, most.all, total);
    const { made, left } = await forgotten(system);
    list.expect("every key was made, and is forgotten", made > 0 && left === 0, `${made} made, ${left} left`);
    list.figure(
      `${count} jobs in ${seconds.toFixed(0)} s (${(count / seconds).toFixed(0)}/s), ${made} keys, ${(most.refusals / count).toFixed(2)} refusals a job, of which ${(most.again / count).toFixed(2)} repeated, ` +
        hunted.seen(),
    );
  },
};

/** By the events, in the order in which they were drawn: an event of a claim is drawn after it has its slots. */
const mostAtOnce = ({ row }: System): Promise<{ key: number; all: number; refusals: number; again: number }> =>
  row(`
    with moves as (
      select e.id, j.id as job, j.payload ->> 'customer' as customer, e.from_state, e.to_state,
        (e.to_state = 'RUNNING')::int - (coalesce(e.from_state = 'RUNNING', false))::int as step
      from belfry.event e cross join lateral unnest(e.job_ids) as u (id) join belfry.job j on j.id = u.id
    ), refusals as (
      select job from moves where from_state = 'QUEUED' and to_state = 'PENDING'
    ), at_once as (
      select sum(step) over (partition by customer order by id) as key, sum(step) over (order by id) as all from moves
    )
    select max(key)::int as key, max("all")::int as all,
      (select count(*)::int from refusals) as refusals, (select (count(*) - count(distinct job))::int from refusals) as again
    from at_once`);

/** As after an hour without a job: the pass forgets the keys. */
async function forgotten({ pool, count, runtime }: System): Promise<{ made: number; left: number }> {
  const keys = (): Promise<number> =>
    count("(select distinct key from belfry.slot where key like 'cap:by-customer#%') k");
  const made = await keys();
  await pool.query("update belfry.slot set made_at = made_at - interval '2 hours'");
  for (let page = 0; page < 20; page += 1) await runtime.ports.store.prune({ limit: 1_000 });
  return { made, left: await keys() };
}
