import type { Pool } from "pg";
import type { OutboxBatch, Message } from "../../src/machine/outbox.ts";
import { until } from "../local/until.ts";
import type { TestDatabase } from "../support/database.ts";

export const messagesOf = (outbox: readonly OutboxBatch[]): readonly Message[] =>
  outbox.flatMap((batch) => batch.messages);

/** A fixed shuffle: the same every run, different for each seed. */
export function shuffled<T>(items: readonly T[], seed: number): T[] {
  let state = seed + 1;
  const next = (): number => (state = (state * 48_271) % 2_147_483_647);
  return items
    .map((item) => ({ item, at: next() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

/** Deadlocks of this database so far. Ends the store's sessions, since a session reports its statistics when it ends. */
export async function deadlocks({ connections, pool }: TestDatabase): Promise<number> {
  const before = await statistics(pool);
  await connections.close();
  const after = await until("the statistics of ended sessions", async () => {
    const now = await statistics(pool);
    return now.commits > before.commits + 20 ? now : null;
  });
  return after.deadlocks;
}

async function statistics(pool: Pool): Promise<{ commits: number; deadlocks: number }> {
  const { rows } = await pool.query<{ commits: number; deadlocks: number }>(
    "select xact_commit::int as commits, deadlocks::int from pg_stat_database where datname = current_database()",
  );
  return rows[0] ?? { commits: 0, deadlocks: 0 };
}

/** Until so many sessions of this database wait for a lock. */
export async function untilWaiting({ pool }: TestDatabase, sessions = 1): Promise<void> {
  await until(`${sessions} sessions waiting for a lock`, async () => {
    const { rows } = await pool.query<{ waiting: number }>(
      "select count(*)::int as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return (rows[0]?.waiting ?? 0) >= sessions ? true : null;
  });
}
