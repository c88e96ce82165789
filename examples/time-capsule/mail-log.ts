import type { SettledJob, Tx } from "belfry";

const insert = `
  insert into time_capsule.mail_log (job_id, attempt, recipient, outcome, error_code, error_message, at)
  values ($1, $2, $3, $4, $5, $6, belfry.now())
  on conflict do nothing`;

/** In the transaction that writes the outcome, so no outcome is without its line and no line without its outcome. */
export async function recordTry(tx: Tx, to: string, { jobId, attempt, outcome, error }: SettledJob): Promise<void> {
  await tx.query(insert, [jobId, attempt, to, outcome, error?.code ?? null, error?.message ?? null]);
}
