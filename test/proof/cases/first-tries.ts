import type { Pool } from "pg";
import { Checklist, type Proof, type ProofContext } from "../proof.ts";
import { startQuiz } from "../quiz-system.ts";
import { until } from "../until.ts";

const users = 15_000;
/** A retry in five minutes comes while first tries still wait. */
const scale = 30;
const workers = 2;
/** Calm and refused in turns: what else the machine does must not fall on one of them. */
const turns = 3;
const growthMax = 1.1;

/** First sends with a tenth of the calls refused, against first sends with none refused. */
export const firstTries: Proof = {
  name: "first-tries",
  about: "the quiz with 10 % at 503 and with none: the first sends' p99 lateness grows by less than 10 %",
  async run(context) {
    const list = new Checklist();
    const calm: Measured[] = [];
    const busy: Measured[] = [];
    for (let turn = 1; turn <= turns; turn += 1) {
      calm.push(await measure(context, "calm", turn));
      busy.push(await measure(context, "refuses", turn));
    }
    const growths = busy.map(({ p99 }, turn) => p99 / (calm[turn]?.p99 ?? Number.NaN)).toSorted((a, b) => a - b);
    const growth = growths[Math.floor(turns / 2)] ?? Number.NaN;
    const due = busy.map(({ among }) => among);
    const early = busy.map(({ before }) => before);
    list.expect("retries were due while first tries still waited", Math.min(...due) > 0, due.join(", "));
    list.expect("and none was made before the last first try", Math.max(...early) === 0, early.join(", "));
    list.expect(`the first sends' p99 lateness grows by less than 10 %`, growth < growthMax, growth.toFixed(3));
    const seconds = (measured: Measured[]): string =>
      measured.map(({ p99 }) => (p99 / 1_000 / (context.scale ?? scale)).toFixed(1)).join(", ");
    list.figure(
      `p99 ${seconds(calm)} s calm, ${seconds(busy)} s with ${due.join(", ")} retries that were due meanwhile, ` +
        `${early.join(", ")} of them made: median ${growth.toFixed(3)} x (${growths[0]?.toFixed(3)} to ${growths.at(-1)?.toFixed(3)})`,
    );
    return list.verdict();
  },
};

interface Measured {
  readonly p99: number;
  /** Retries whose five minutes had passed while first tries still waited. */
  readonly among: number;
  /** Retries that were made while first tries still waited. */
  readonly before: number;
}

async function measure(context: ProofContext, mood: "calm" | "refuses", turn: number): Promise<Measured> {
  const size = { users: Math.ceil(users * context.size), mood };
  const quiz = await startQuiz(size, context, `${mood}-${turn}`, { scale: context.scale ?? scale, workers });
  const { system, judge, evidence } = quiz;
  const wakes = system.wakes({ everyMs: 0 });
  const fleet = system.fleet();
  await until("all first tries to be made", 270_000, async () => (await judge.progress(evidence)).done);
  const measured = await read(system.pool);
  await wakes.stop();
  await fleet.stop();
  await quiz.stop();
  return measured;
}

/** In the system's own milliseconds. A try's lateness is from the time of the quiz to its start. */
async function read(pool: Pool): Promise<Measured> {
  const { rows } = await pool.query<Measured>(
    `with tried as (
       select attempt.attempt, attempt.started_at, attempt.ended_at, attempt.outcome,
         belfry.ms(attempt.started_at) - belfry.ms(starter.scheduled_for) as late
       from belfry.attempt
       join belfry.job on job.id = attempt.job_id and job.kind = 'send-push'
       join belfry.run on run.id = job.run_id
       join belfry.job as starter on starter.id = run.starter_id)
     select percentile_cont(0.99) within group (order by late) filter (where attempt = 1) as p99,
       count(*) filter (where attempt = 1 and outcome = 'RETRY_WAIT'
         and ended_at + interval '5 minutes' < (select max(started_at) from tried where attempt = 1))::int as among,
       count(*) filter (where attempt > 1 and started_at < (select max(started_at) from tried where attempt = 1))::int as before
     from tried`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("there were no tries");
  return row;
}
