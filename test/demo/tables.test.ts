import { readFileSync } from "node:fs";
import { Pool } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { input, messageKey } from "../../examples/batch-scheduler/input.ts";
import { fileReader, outboxReader } from "../../examples/batch-scheduler/reader.ts";
import { seed } from "../../examples/batch-scheduler/seed.ts";
import { fileWriter, outboxWriter } from "../../examples/batch-scheduler/writer.ts";
import { blankDatabase } from "../support/database.ts";

const migrations = ["0001_outbox.sql", "0002_external_file.sql"].map((file) =>
  readFileSync(new URL(`../../examples/batch-scheduler/migrations/${file}`, import.meta.url), "utf8"),
);

const policy = { maxAttempts: 3, backoffMs: 1 };

/** The example's own tables with its input. */
async function seeded(): Promise<Pool> {
  const { url, close } = await blankDatabase();
  const pool = new Pool({ connectionString: url, max: 2 });
  // Dropping the database cuts connections that are about to close.
  pool.on("error", () => {});
  onTestFinished(async () => {
    await pool.end();
    await close();
  });
  for (const sql of migrations) await pool.query(sql);
  await seed(pool);
  return pool;
}

const outbox = async (pool: Pool, key: string) => {
  const { rows } = await pool.query("select state, attempts, last_error from batch_scheduler.outbox where key = $1", [
    key,
  ]);
  return rows[0] as unknown;
};

test("seeding twice leaves the same rows, also those that were worked on", async () => {
  const pool = await seeded();
  await pool.query("update batch_scheduler.outbox set attempts = 1 where key = $1", [messageKey(1)]);
  await seed(pool);
  const { rows } = await pool.query("select count(*)::int, sum(attempts)::int as attempts from batch_scheduler.outbox");
  expect(rows).toEqual([{ count: input.messages, attempts: 1 }]);
  const files = await pool.query("select count(*)::int from batch_scheduler.external_file");
  expect(files.rows).toEqual([{ count: input.files }]);
});

test("the longest waiting come first, and one row more than asked for tells that more is left", async () => {
  const reader = outboxReader(await seeded());
  const turn = await reader.begin();
  const first = await reader.findUnpublished(turn, 3);
  expect(first.items.map(({ key }) => key)).toEqual([1, 2, 3].map(messageKey));
  expect(first.hasMore).toBe(true);
  const all = await reader.findUnpublished(turn, input.messages);
  expect(all).toMatchObject({ hasMore: false });
  expect(all.items).toHaveLength(input.messages);
});

test("a failed message is out of its turn and at the end of the line of a later one", async () => {
  const pool = await seeded();
  const [reader, writer] = [outboxReader(pool), outboxWriter(pool)];
  const turn = await reader.begin();
  const { items } = await reader.findUnpublished(turn, 1);
  for (const item of items) await writer.persist(turn, item.retryLater("refused", policy));
  expect(await outbox(pool, messageKey(1))).toEqual({ state: "PENDING", attempts: 1, last_error: "refused" });
  const sameTurn = await reader.findUnpublished(turn, input.messages);
  expect(sameTurn.items.map(({ key }) => key)).not.toContain(messageKey(1));
  const later = await reader.findUnpublished({ startedAt: "infinity" }, input.messages);
  expect(later.items.at(-1)).toMatchObject({ key: messageKey(1), attempts: 1 });
});

test("of two holders of a message the first one's verdict counts", async () => {
  const pool = await seeded();
  const [reader, writer] = [outboxReader(pool), outboxWriter(pool)];
  const turn = await reader.begin();
  const { items } = await reader.findUnpublished(turn, 1);
  for (const item of items) {
    await writer.persist(turn, item.markPublished());
    await writer.persist(turn, item.giveUp("late"));
    await writer.persist(turn, item.retryLater("late", policy));
  }
  expect(await outbox(pool, messageKey(1))).toEqual({ state: "PUBLISHED", attempts: 1, last_error: null });
});

test("a downloaded file keeps its content, a failed one its reason", async () => {
  const pool = await seeded();
  const [reader, writer] = [fileReader(pool), fileWriter(pool)];
  const turn = await reader.begin();
  const { items } = await reader.findUnpublished(turn, 3);
  const [first, second, third] = items;
  if (first === undefined || second === undefined || third === undefined) throw new Error("the seed has three files");
  await writer.persist(turn, first.markDone({ bytes: 2, sha256: "ab", content: "hi" }));
  await writer.persist(turn, second.giveUp("HTTP 404"));
  await writer.persist(turn, third.retryLater("HTTP 503", policy));
  const { rows } = await pool.query(
    "select state, attempts, content, last_error from batch_scheduler.external_file where attempts > 0 order by id",
  );
  expect(rows).toEqual([
    { state: "DOWNLOADED", attempts: 1, content: "hi", last_error: null },
    { state: "FAILED", attempts: 1, content: null, last_error: "HTTP 404" },
    { state: "PENDING", attempts: 1, content: null, last_error: "HTTP 503" },
  ]);
});
