import { type Check, noneOf, timed } from "../demo/judge.ts";
import { until } from "../proof/until.ts";
import { type Experiment, newTag, post } from "./experiment.ts";

/** Whose mails hang for 70 s, by the example's input. */
const user = "19";
const minuteMs = 60_000;
const latenessMsMax = 5_000;
const opened = `
  select title, (extract(epoch from opened_at - opens_at) * 1000)::int as late from time_capsule.capsule
  where title like $1 || '%' and opened_at is not null order by 1`;
const mailsOf = `
  select count(*)::int as tried from belfry.job
  where kind = 'send-open-mail' and payload ->> 'title' like $1 || '%' and (state = 'RUNNING' or failures > 0)`;

export const mailHangs: Experiment = {
  name: "time-capsule-mail-hangs",
  about: "three capsules of two minutes open, while the mail of each hangs for 70 s: three minutes",
  proof: "time-capsule",
  async run({ api, evidence: { db } }): Promise<readonly Check[]> {
    const tag = `Capsule ${newTag()}`;
    const next = (Math.floor(Date.now() / minuteMs) + 1) * minuteMs;
    for (const [n, opensAt] of [next, next, next + minuteMs].entries()) {
      const capsule = { user, title: `${tag} ${n}`, content: "later", open_at: new Date(opensAt).toISOString() };
      await post(`${api}/apps/time-capsule/capsules`, capsule);
    }
    const rows = await until("three capsules to open", 5 * minuteMs, async () => {
      const { rows: found } = await db.query<{ title: string; late: number }>(opened, [tag]);
      return found.length === 3 && found;
    });
    const tried = (await db.query<{ tried: number }>(mailsOf, [tag])).rows[0]?.tried ?? 0;
    const late = rows.map(({ title, late: ms }) => `${title.slice(-1)}: ${ms} ms`);
    return [
      noneOf(
        "each capsule opens, and none before its time",
        rows.filter((row) => row.late < 0).map(({ title }) => title),
        late.join(", "),
      ),
      timed({
        name: `no opening waits for a mail: all within ${latenessMsMax} ms`,
        pass: rows.every((row) => row.late <= latenessMsMax),
        detail: late.join(", "),
      }),
      { name: "their mails hang, or failed by their time limit", pass: tried > 0, detail: `${tried} mails` },
    ];
  },
};
