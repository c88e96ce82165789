import { bystanders, closeCapsules, mailsAhead, openings, quantile, startCapsules } from "../capsules.ts";
import type { Checklist, Proof, ProofContext } from "../proof.ts";
import { until } from "../until.ts";

const moods = ["hangs", "busy", "rejected", "half an answer", "a byte a second"] as const;
const scaleDefault = 6;
const minutes = 2;
const growthMax = 0.1;
/** Two runs of one machine differ by this much without any mail. */
const noiseMs = 100;
const latenessMsMax = 2_000;

/** The capsules and a bystander beside a mail server that is well, and then beside ones that are not. */
export const slowMail: Proof = {
  name: "slow-mail",
  about: "SMTP hangs 70 s, 4xx, 5xx, half an answer, a byte a second: openings not late, other lanes neither",
  guards: ["lane", "mail-log"],
  async run(context, list) {
    const well = await runBeside(list, context, "accepted");
    for (const mood of context.without === null ? moods : moods.slice(0, 1)) {
      const ill = await runBeside(list, context, mood);
      const bar = Math.round(Math.max(well.beside * (1 + growthMax), well.beside + noiseMs));
      list.expect(`${mood}: p99 beside grows by less than 10 %`, ill.beside <= bar, `${ill.beside} ms, bar ${bar} ms`);
      list.expectAtMost(`${mood}: p99 of the openings is at most ${latenessMsMax} ms`, ill.opening, latenessMsMax);
      list.figure(`${mood}: openings p99 ${ill.opening} ms, beside p99 ${ill.beside} ms`);
    }
    list.figure(`well: openings p99 ${well.opening} ms, beside p99 ${well.beside} ms`);
  },
};

async function runBeside(
  list: Checklist,
  context: ProofContext,
  mood: string,
): Promise<{ opening: number; beside: number }> {
  context.log(mood);
  const scale = context.scale ?? scaleDefault;
  const count = Math.ceil(40 * context.size);
  const example = await startCapsules(context, { label: mood, scale, mode: mood });
  const { pool } = example.system;
  const work = example.system.work();
  await closeCapsules(pool, { count, perMinute: Math.ceil(count / minutes), damaged: 0, inMinutes: 2 });
  await mailsAhead(example, scale);
  await until("the capsules to open", 120_000, async () => (await openings(pool, scale)).length === count);
  const { tried, unlogged } = await example.system.row<{ tried: number; unlogged: number }>(
    `select count(*) filter (where attempt > 0)::int as tried, (
       select count(*)::int from belfry.attempt a join belfry.job j on j.id = a.job_id and j.kind = 'send-open-mail'
       where a.outcome <> 'RELEASED' and not exists (
         select from time_capsule.mail_log l where l.job_id = a.job_id and l.attempt = a.attempt)) as unlogged
     from belfry.job where kind = 'send-open-mail'`,
  );
  list.expect(`${mood}: mails were tried`, tried > 0);
  list.expectIs(`${mood}: each try that ended is in the mail log`, unlogged, 0);
  const measured = {
    opening: quantile(await openings(pool, scale), 0.99),
    beside: quantile(await bystanders(pool, scale), 0.99),
  };
  await work.stop();
  await example.stop();
  return measured;
}
