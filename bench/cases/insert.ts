import type { Store } from "../../src/machine/store.ts";
import { createClient } from "../../src/run/enqueue.ts";
import { definitionOf, defineJob } from "../../src/define/define-job.ts";
import type { NewJob } from "../../src/machine/job.ts";
import type { Ground } from "../ground.ts";
import { compared, inTurns, measured, perSecond, rounds, type Figure } from "../measure.ts";
import { portsWith } from "../ports.ts";
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
  const whole: number[] = [];
  for (let each = 0; each < rounds; each += 1) whole.push(await wholeEnqueue(store, each));
  client.release();
  return [
    compared("insert", "jobs/s", pairs, { ratioMin: 0.6 }),
    measured("insert: client.enqueue, messages accepted at once", "jobs/s", whole, { info: true }),
  ];
}

async function insertAll(store: Store, pages: readonly (readonly NewJob[])[]): Promise<void> {
  for (const page of pages) {
    const { results } = await store.insert(page);
    if (results.length !== page.length) throw new Error(`${results.length} of ${page.length} jobs were answered`);
  }
}

/** The same through the client: validation, canonical form, the outbox batch and its confirmation included. */
async function wholeEnqueue(store: Store, round: number): Promise<number> {
  const client = createClient(portsWith(store));
  const definition = definitionOf(defineJob({ id: "noop", run: () => {} }));
  const items = Array.from({ length: calls * perCall }, (_, n) => ({ payload: undefined, key: `whole-${round}-${n}` }));
  return perSecond(items.length, async () => void (await client.enqueue(definition, items)));
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
