import { readFileSync } from "node:fs";
import { Pool } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { filePath, input, messageKey } from "../../examples/batch-scheduler/input.ts";
import { ExternalFile, Outbox } from "../../examples/batch-scheduler/items.ts";
import { reader } from "../../examples/batch-scheduler/reader.ts";
import { seed } from "../../examples/batch-scheduler/seed.ts";
import { writer } from "../../examples/batch-scheduler/writer.ts";
import { freshDatabase } from "../support/database.ts";

const migrations = ["0001_outbox.sql", "0002_external_file.sql"].map((file) =>
  readFileSync(new URL(`../../examples/batch-scheduler/migrations/${file}`, import.meta.url), "utf8"),
);

const policy = { maxAttempts: 3, backoffMs: 1 };

/** The example's own tables with its input. */
async function seeded(): Promise<() => Pool> {
  const { url, close } = await freshDatabase({ own: true });
  const pool = new Pool({ connectionString: url, max: 2 });
  // Dropping the database cuts connections that are about to close.
  pool.on("error", () => {});
  onTestFinished(async () => {
    await pool.end();
    await close();
  });
  for (const sql of migrations) await pool.query(sql);
  await seed(pool);
  return () => pool;
}

const outbox = async (pool: Pool, key: string) => {
  const { rows } = await pool.query("select state, attempts, last_error from batch_scheduler.outbox where key = $1", [
    key,
  ]);
  return rows[0] as unknown;
};

test("seeding twice leaves the same rows, also those that were worked on", async () => {
  const pool = (await seeded())();
  await pool.query("update batch_scheduler.outbox set attempts = 1 where key = $1", [messageKey(1)]);
  await seed(pool);
  const { rows } = await pool.query("select count(*)::int, sum(attempts)::int as attempts from batch_scheduler.outbox");
  expect(rows).toEqual([{ count: input.messages, attempts: 1 }]);
  const files = await pool.query("select count(*)::int from batch_scheduler.external_file");
  expect(files.rows).toEqual([{ count: input.files }]);
});

const all = new Date("2099-01-01");

test("the longest waiting come first, and one row more than the request says that more is left", async () => {
  const reading = reader(await seeded(), "outbox", Outbox);
  const first = await reading.findUnpublished(all, 3);
  expect(first.items.map(({ row }) => row.key)).toEqual([1, 2, 3].map(messageKey));
  expect(first.hasMore).toBe(true);
  const whole = await reading.findUnpublished(all, input.messages);
  expect(whole).toMatchObject({ hasMore: false });
  expect(whole.items).toHaveLength(input.messages);
});

test("what waits for the same time is tried in the order in which it was written", async () => {
  const { items } = await reader(await seeded(), "external_file", ExternalFile).findUnpublished(all, input.files);
  expect(items.map(({ row }) => row.path)).toEqual(items.map((_, index) => filePath(index + 1)));
  expect(items).toHaveLength(input.files);
});

test("a failed message is out of its turn and at the end of the line of a later one", async () => {
  const pool = await seeded();
  const reading = reader(pool, "outbox", Outbox);
  const startedAt = new Date();
  const { items } = await reading.findUnpublished(startedAt, 1);
  for (const item of items) await writer(pool, "outbox").persist(startedAt, item.retryLater("refused", policy));
  expect(await outbox(pool(), messageKey(1))).toEqual({ state: "PENDING", attempts: 1, last_error: "refused" });
  const sameTurn = await reading.findUnpublished(startedAt, input.messages);
  expect(sameTurn.items.map(({ row }) => row.key)).not.toContain(messageKey(1));
  const later = await reading.findUnpublished(all, input.messages);
  expect(later.items.at(-1)?.row).toMatchObject({ key: messageKey(1), attempts: 1 });
});

test("of two holders of a message the first one's verdict counts", async () => {
  const pool = await seeded();
  const writing = writer(pool, "outbox");
  const startedAt = new Date();
  const { items } = await reader(pool, "outbox", Outbox).findUnpublished(startedAt, 1);
  for (const item of items) {
    await writing.persist(startedAt, item.markPublished("m-1"));
    await writing.persist(startedAt, item.giveUp("late"));
    await writing.persist(startedAt, item.retryLater("late", policy));
  }
  expect(await outbox(pool(), messageKey(1))).toEqual({ state: "PUBLISHED", attempts: 1, last_error: null });
});

test("a downloaded file keeps its content, a failed one its reason", async () => {
  const pool = await seeded();
  const writing = writer(pool, "external_file");
  const { items } = await reader(pool, "external_file", ExternalFile).findUnpublished(all, 3);
  const [first, second, third] = items;
  if (first === undefined || second === undefined || third === undefined) throw new Error("the seed has three files");
  await writing.persist(all, first.markPublished("hi"));
  await writing.persist(all, second.giveUp("HTTP 404"));
  await writing.persist(all, third.retryLater("HTTP 503", policy));
  const { rows } = await pool().query(
    "select state, attempts, answer, last_error from batch_scheduler.external_file where attempts > 0 order by id",
  );
  expect(rows).toEqual([
    { state: "DOWNLOADED", attempts: 1, answer: "hi", last_error: null },
    { state: "FAILED", attempts: 1, answer: null, last_error: "HTTP 404" },
    { state: "PENDING", attempts: 1, answer: null, last_error: "HTTP 503" },
  ]);
});
