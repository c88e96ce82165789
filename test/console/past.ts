import type { Pool } from "pg";

type End = "SUCCESS" | "FAILED" | "QUEUED" | "SKIPPED";

/** Occurrences of a schedule, the oldest first, ten minutes apart up to now: SKIPPED by overlap, or with a job that stands as given. */
export async function past(pool: Pool, schedule: string, ends: readonly End[]): Promise<readonly string[]> {
  const client = await pool.connect();
  // The rows are planted as no statement would write them.
  await client.query("set session_replication_role = replica");
  const ids: string[] = [];
  for (const [index, state] of ends.entries()) {
    const ago = `belfry.now() - ${(ends.length - 1 - index) * 10} * interval '1 minute'`;
    const isFinal = state !== "QUEUED";
    const isBad = state === "FAILED";
    const isSkipped = state === "SKIPPED";
    const { rows } = await client.query<{ id: string }>(
      `insert into belfry.job (kind, payload, lane, state, event_id, due_at, generation, attempt, failures, max_attempts,
         lease_ms, retention_ms, trace, worker, started_at, finished_at, created_at, schedule_id, scheduled_for, dispatched_at,
         error_code, error_message)
       select 'ping', '{}', 'default', $2::belfry.job_state, 1, ${ago}, 1, 1, 0, 4, 20000, 2592000000, 't', 'w', ${ago},
         case when $4::boolean then ${ago} + interval '2 seconds' end, ${ago}, $1, ${ago}, ${ago}, $3, $5
       where not $6::boolean returning id`,
      [schedule, state, isBad ? "BROKEN" : null, isFinal, isBad ? "no disk" : null, isSkipped],
    );
    const id = rows[0]?.id ?? null;
    if (id !== null) ids.push(id);
    await client.query(
      `insert into belfry.occurrence (schedule_id, local_time, fold, timezone, nominal_at, outcome, reason, schedule_version, job_id,
         planned_at, decided_at, lateness_ms)
       values ($1, $2, 0, 'UTC', ${ago}, $5::belfry.occurrence_outcome, $6, 1, $3, ${ago}, ${ago}, $4)`,
      [
        schedule,
        `t${index}`,
        id,
        index === 0 ? 90_000 : 40,
        isSkipped ? "SKIPPED" : "FIRED",
        isSkipped ? "overlap" : null,
      ],
    );
  }
  await client.query("reset session_replication_role");
  client.release();
  return ids;
}
