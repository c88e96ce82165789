import type pg from "pg";
import { postgresLimits } from "../src/postgres/postgres-limits.ts";
import type { Message } from "../src/machine/outbox.ts";

/**
 * The roof of the worker: two set-based compare-and-sets on the same columns, indexes and checks, and nothing else:
 * no guard, no event, no attempt row. Their plans are kept where the store keeps its own.
 */
const claim = `
update raw.job j set state = 'RUNNING', attempt = j.attempt + 1, worker = $3, started_at = belfry.now(),
  lease_until = belfry.now() + belfry.span(j.lease_ms)
from unnest($1::bigint[], $2::int[]) as v (id, generation)
where j.id = v.id and j.state = 'QUEUED' and j.generation = v.generation
returning j.id, j.kind, j.payload, j.attempt`;

const complete = `
update raw.job j set state = 'SUCCESS', finished_at = belfry.now(), lease_until = null, worker = null
from unnest($1::bigint[], $2::int[]) as v (id, attempt)
where j.id = v.id and j.state = 'RUNNING' and j.attempt = v.attempt
returning j.id`;

export async function rawWork(client: pg.PoolClient, messages: readonly Message[]): Promise<void> {
  const keeps = messages.length <= postgresLimits.keptPlanRowsMax;
  const claimed = await client.query<{ id: string; attempt: number }>({
    ...(keeps ? { name: "claim" } : {}),
    text: claim,
    values: [messages.map((message) => message.jobId), messages.map((message) => message.generation), "raw"],
  });
  const ids = claimed.rows.map((row) => row.id);
  if (ids.length !== messages.length) throw new Error(`the roof claimed ${ids.length} of ${messages.length} rows`);
  await rawComplete(
    client,
    ids,
    claimed.rows.map((row) => row.attempt),
  );
}

/** The second half: RUNNING -> SUCCESS. */
export async function rawComplete(
  client: pg.PoolClient,
  ids: readonly string[],
  attempts: readonly number[],
): Promise<void> {
  const keeps = ids.length <= postgresLimits.keptPlanRowsMax;
  const values = [ids, attempts];
  const { rowCount } = await client.query({ ...(keeps ? { name: "complete" } : {}), text: complete, values });
  if (rowCount !== ids.length) throw new Error(`the roof finished ${rowCount} of ${ids.length} rows`);
}
