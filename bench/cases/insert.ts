import type { Store } from "../../src/machine/store.ts";
import type { NewJob } from "../../src/machine/job.ts";
import type { Ground } from "../ground.ts";
import { compared, inTurns, perSecond, type Figure } from "../measure.ts";
import { emptyTables, newJobs } from "../rows.ts";

const calls = 15;
const perCall = 1_000;

/** Bulk enqueue of 1,000 a call with key check, event and outbox row, beside a bare INSERT into the same columns. */
export async function insert(ground: Ground): Promise<readonly Figure[]> {
  const database = await ground.database();
  const store = database.store(1);
  const client = await database.pool.connect();
  let round = 0;
  const jobs = (): (readonly NewJob[])[] => {
    round += 1;
    return Array.from({ length: calls }, (_, call) => newJobs(perCall, `${round}-${call}`));
  };
  const pairs = await inTurns({
    async product() {
      const pages = jobs();
      return perSecond(calls * perCall, () => insertAll(store, pages));
    },
    async roof() {
      const pages = jobs();
      const rate = await perSecond(calls * perCall, async () => {
        for (const page of pages) await client.query(rawInsert, rawColumns(page));
      });
      await emptyTables(database.pool);
      return rate;
    },
  });
  client.release();
  return [compared("insert", "jobs/s", pairs, { ratioMin: 0.6 })];
}

async function insertAll(store: Store, pages: readonly (readonly NewJob[])[]): Promise<void> {
  for (const page of pages) {
    const { results } = await store.insert(page);
    if (results.length !== page.length) throw new Error(`${results.length} of ${page.length} jobs were answered`);
  }
}

const rawInsert = `
insert into raw.job (kind, key, payload, payload_hash, lane, state, due_at, generation, handed_at, lease_ms, max_attempts,
  retention_ms, trace, created_at)
select kind, key, payload, payload_hash, lane, 'QUEUED', now(), 1, now(), lease_ms, max_attempts, retention_ms, trace, now()
from unnest($1::text[], $2::text[], $3::jsonb[], $4::bytea[], $5::text[], $6::int[], $7::int[], $8::bigint[], $9::text[])
  as v (kind, key, payload, payload_hash, lane, lease_ms, max_attempts, retention_ms, trace)`;

const hash = `\\x${"ab".repeat(32)}`;

const rawColumns = (jobs: readonly NewJob[]): unknown[] => [
  jobs.map((job) => job.kind),
  jobs.map((job) => job.key),
  jobs.map((job) => JSON.stringify(job.payload)),
  jobs.map(() => hash),
  jobs.map((job) => job.lane),
  jobs.map((job) => job.leaseMs),
  jobs.map((job) => job.maxAttempts),
  jobs.map((job) => job.retentionMs),
  jobs.map((job) => job.trace),
];
