import type { Pool } from "pg";
import { bystanders, closeCapsules, mailsAhead, openings, quantile, startCapsules } from "../capsules.ts";
import type { Checklist, Proof, ProofContext } from "../proof.ts";
import { until } from "../until.ts";

const minutes = 3;
const latenessMsMax = 2_000;

/** At full size: real minutes, and every mail hangs for 70 seconds. */
export const timeCapsule: Proof = {
  name: "time-capsule",
  about:
    "300 capsules in 3 real minutes while every mail hangs 70 s; 5,000 due at once, the 1,000 oldest fail for ever",
  guards: ["lane", "next-page"],
  async run(context, list) {
    const { without } = context;
    if (without !== "next-page") await threeMinutes(list, context);
    if (without !== "lane") await allAtOnce(list, context);
  },
};

async function threeMinutes(list: Checklist, context: ProofContext): Promise<void> {
  const scale = context.scale ?? 1;
  const count = Math.ceil(300 * context.size);
  const example = await startCapsules(context, { label: "three minutes", scale, mode: "hangs" });
  const { pool, rows, row } = example.system;
  const work = example.system.work();
  await closeCapsules(pool, { count, perMinute: Math.ceil(count / minutes), damaged: 0, inMinutes: 2 });
  await mailsAhead(example, scale);
  await until("the capsules to open", ((minutes + 3) * 60_000) / scale, async () => {
    return (await openings(pool, scale)).length === count;
  }).catch((error: unknown) => list.expect("every capsule opens", false, String(error)));
  const late = await openings(pool, scale);
  list.expectIs(`${count} capsules are open`, late.length, count);
  list.expectAtMost(
    `p99 of the openings' lateness is at most ${latenessMsMax} ms`,
    quantile(late, 0.99),
    latenessMsMax,
  );
  const skipped = await rows<{ at: string }>(
    `select nominal_at::text as at from belfry.occurrence where schedule_id = 'open-due-every-minute'
       and (outcome = 'SKIPPED' or outcome = 'PLANNED' and nominal_at < belfry.now() - interval '10 seconds')`,
  );
  list.expectNone("no minute is skipped", skipped, ({ at }) => at);
  const { sent, tried } = await row<{ sent: number; tried: number }>(
    `select count(*) filter (where state = 'SUCCESS')::int as sent, count(*) filter (where attempt > 0)::int as tried
     from belfry.job where kind = 'send-open-mail'`,
  );
  list.expect("mails hang, and none is through", sent === 0 && tried > 0, tried);
  list.figure(`openings late p50 ${quantile(late, 0.5)} p99 ${quantile(late, 0.99)} max ${quantile(late, 1)} ms`);
  list.figure(`turns ${(await turns(pool)).join(", ")}`);
  list.figure(`beside p99 ${quantile(await bystanders(pool, scale), 0.99)} ms, ${tried} mails hung`);
  await work.stop();
  await example.stop();
}

/** Of each minute, after its time: when its sweep began and had found all, and when the last capsule was open. */
async function turns(db: Pool): Promise<readonly string[]> {
  const { rows } = await db.query<{ turn: string }>(
    `select concat_ws('/', began, found, opened) || ' s' as turn from (
       select c.opens_at, extract(epoch from s.started_at - c.opens_at)::numeric(9, 1) as began,
         extract(epoch from s.finished_at - c.opens_at)::numeric(9, 1) as found,
         extract(epoch from c.last - c.opens_at)::numeric(9, 1) as opened
       from (select opens_at, max(opened_at) as last from time_capsule.capsule group by opens_at) c
       join belfry.occurrence o on o.schedule_id = 'open-due-every-minute' and o.nominal_at = c.opens_at
       join belfry.job s on s.id = o.job_id) t
     order by opens_at`,
  );
  return rows.map(({ turn }) => turn);
}

/** Scaled, because nothing here waits: what is due is due, and the turn is one sweep job. */
async function allAtOnce(list: Checklist, context: ProofContext): Promise<void> {
  const count = Math.ceil(5_000 * context.size);
  const damaged = Math.ceil(1_000 * context.size);
  const scale = 1;
  const example = await startCapsules(context, { label: "all at once", scale, mode: "accepted" });
  const { pool, row } = example.system;
  await closeCapsules(pool, { count, perMinute: count, damaged, inMinutes: 0 });
  const work = example.system.work();
  await until(
    "the whole ones to open",
    280_000,
    async () => (await openings(pool, scale)).length === count - damaged,
  ).catch((error: unknown) => list.expect("the whole ones open", false, String(error)));
  const { first, jobs, wrong } = await row<{ first: number; jobs: number; wrong: number }>(
    `select (select (result->>'created')::int from belfry.job where kind = 'open-due-capsules' and state = 'SUCCESS' order by due_at limit 1) as first,
       (select count(*)::int from belfry.job where kind = 'open-capsule') as jobs,
       (select count(*)::int from time_capsule.capsule where id <= $1 and opened_at is not null) as wrong`,
    [damaged],
  );
  const opened = (await openings(pool, scale)).length;
  list.expectIs(`the ${count - damaged} whole ones are open`, opened, count - damaged);
  list.expect("they were found in one turn", jobs === count, `${jobs} jobs, ${first} in the first sweep`);
  list.expectIs("none of the damaged is open", wrong, 0);
  list.figure(`${opened} of ${count} opened, the first sweep made ${first} jobs`);
  await work.stop();
  await example.stop();
}
