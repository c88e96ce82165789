import type pg from "pg";
import type { Store } from "../../src/machine/store.ts";
import type { Ground } from "../ground.ts";
import { compared, inTurns, perSecond, type Figure } from "../measure.ts";
import { emptyTables, loadWaiting } from "../rows.ts";

const rows = 20_000;
const batch = 500;

/** Waiting -> QUEUED, 500 a transaction, without sending, beside a bare SKIP LOCKED claim of the same columns. */
export async function relay(ground: Ground): Promise<readonly Figure[]> {
  const database = await ground.database();
  const store = database.store(1);
  const { pool } = database;
  const client = await pool.connect();
  const pairs = await inTurns({
    async product() {
      await emptyTables(pool);
      await loadWaiting(pool, "belfry", rows);
      return perSecond(rows, () => relayAll(store, rows, batch));
    },
    async roof() {
      await emptyTables(pool);
      await loadWaiting(pool, "raw", rows);
      return perSecond(rows, () => rawRelayAll(client));
    },
  });
  client.release();
  return [compared("relay", "jobs/s", pairs, { ratioMin: 0.6 })];
}

export async function relayAll(store: Store, total: number, limit: number): Promise<void> {
  for (let moved = 0; moved < total;) {
    const outbox = await store.relay({ limit });
    const now = outbox.reduce((sum, batch) => sum + batch.messages.length, 0);
    if (now === 0) throw new Error(`the relay moved ${moved} of ${total} rows`);
    moved += now;
  }
}

const rawRelay = `
with due as (
  select id from raw.job
  where state in ('PENDING', 'RETRY_WAIT') and not blocked and hold = 'none' and due_at <= belfry.now() + interval '5 minutes'
  order by due_at, id limit $1
  for no key update skip locked
)
update raw.job j set state = 'QUEUED', generation = j.generation + 1, handed_at = belfry.now()
from due where j.id = due.id
returning j.id, j.generation, j.lane, j.trace, j.due_at`;

async function rawRelayAll(client: pg.PoolClient): Promise<void> {
  for (let moved = 0; moved < rows;) {
    const { rowCount } = await client.query(rawRelay, [batch]);
    if (!rowCount) throw new Error(`the roof moved ${moved} of ${rows} rows`);
    moved += rowCount;
  }
}
