import type { Pool } from "pg";
import { Checklist, type Proof, type ProofContext } from "../proof.ts";
import { startQuiz } from "../quiz-system.ts";
import { until } from "../until.ts";

const users = 20_000;
/** A retry in five minutes comes while first tries still wait. */
const scale = 30;
const workers = 2;
const growthMax = 1.1;

/** First sends with a tenth of the calls refused, against first sends with none refused. */
export const firstTries: Proof = {
  name: "first-tries",
  about: "the quiz with 10 % at 503 and with none: the first sends' p99 lateness grows by less than 10 %",
  async run(context) {
    const list = new Checklist();
    const calm = await measure(context, "calm");
    const busy = await measure(context, "refuses");
    const growth = busy.p99 / calm.p99;
    list.expect("refused calls were repeated", busy.retries > 0, busy.retries);
    list.expect("some were due while first tries still waited", busy.among > 0, busy.among);
    list.expect(`the first sends' p99 lateness grows by less than 10 %`, growth < growthMax, growth.toFixed(3));
    const seconds = (ms: number): string => `${(ms / 1_000 / scale).toFixed(1)} s`;
    list.figure(
      `p99 ${seconds(calm.p99)} calm, ${seconds(busy.p99)} with ${busy.retries} retries, ${busy.among} of them due while first tries waited: ${growth.toFixed(3)} x`,
    );
    return list.verdict();
  },
};

interface Measured {
  readonly p99: number;
  readonly retries: number;
  /** Of them, those whose five minutes had passed while first tries still waited. */
  readonly among: number;
}

async function measure(context: ProofContext, mood: "calm" | "refuses"): Promise<Measured> {
  const size = { users: Math.ceil(users * context.size), mood };
  const quiz = await startQuiz(size, context, mood, { scale: context.scale ?? scale, workers });
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
       count(*) filter (where attempt > 1)::int as retries,
       count(*) filter (where attempt = 1 and outcome = 'RETRY_WAIT'
         and ended_at + interval '5 minutes' < (select max(started_at) from tried where attempt = 1))::int as among
     from tried`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("there were no tries");
  return row;
}
