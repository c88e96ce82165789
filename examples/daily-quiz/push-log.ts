import type { SettledJob, Tx } from "belfry";
import type { Push } from "./push.ts";

const insert = `
  insert into daily_quiz.push_log (job_id, attempt, user_id, day, outcome, code, is_final)
  values ($1, $2, $3, $4, $5, $6, $7)`;

/** A line for each try, in the transaction that writes its outcome: also for one that failed or whose worker died. */
export async function recordTry(push: Push, settled: SettledJob, tx: Tx): Promise<void> {
  const { jobId, attempt, outcome, error, final } = settled;
  await tx.query(insert, [jobId, attempt, push.userId, push.day, outcome, error?.code ?? null, final]);
}
