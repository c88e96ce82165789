import { expect, test } from "vitest";
import { createClock } from "../../src/outside/clock.ts";
import { defineJob } from "../../src/define/define-job.ts";
import type { Job } from "../../src/define/context.ts";
import type { Tx } from "../../src/machine/transaction.ts";
import { jobOf, shop, world } from "../core/world.ts";
import { testDatabase } from "../support/database.ts";

/** A statement that fails, and an app that goes on as if it had not. */
const swallow = async (tx: Tx): Promise<void> => void (await tx.query("select 1 from no_such_table").catch(() => {}));

/** The same inside a savepoint of the app's own, which is how one goes on after an error. */
async function dealWith(tx: Tx): Promise<void> {
  await tx.query("savepoint mine");
  await tx.query("select 1 from no_such_table").catch(() => tx.query("rollback to savepoint mine"));
}

async function ranOnce(...jobs: readonly Job<void>[]) {
  const db = await testDatabase();
  const counter = await shop(
    jobs,
    world(() => ({ store: db.store, clock: createClock(1) })),
  );
  const ids = [];
  for (const job of jobs) ids.push(await counter.enqueue(job, undefined));
  expect(await counter.work()).toEqual([]);
  const rows = await Promise.all(ids.map((id) => jobOf(counter.world, id)));
  return { rows, lines: counter.world.lines };
}

const why =
  /a statement failed and its error was caught, after which Postgres keeps nothing of the transaction.*no_such_table/;

test("an onSettled that swallows the error of a statement gets an error, and its job's end is written all the same", async () => {
  const { rows } = await ranOnce(
    defineJob({ id: "careless", run() {}, onSettled: (_, __, tx) => swallow(tx) }),
    defineJob({ id: "beside", run() {} }),
  );
  expect(rows).toMatchObject([
    { state: "QUEUED", failures: 1, errorCode: "ON_SETTLED", errorMessage: expect.stringMatching(why) as string },
    { state: "SUCCESS" },
  ]);
});

test("a hook that fails on every end is left out of a failed one, so that the job ends", async () => {
  const run = (): never => {
    throw new Error("the work itself");
  };
  const { rows, lines } = await ranOnce(
    defineJob({ id: "careless", retry: { maxAttempts: 1 }, run, onSettled: (_, __, tx) => swallow(tx) }),
  );
  expect(rows).toMatchObject([{ state: "FAILED", errorMessage: "the work itself" }]);
  expect(lines.find(({ message }) => message.startsWith("onSettled failed"))?.fields["error"]).toMatchObject({
    message: expect.stringMatching(why) as string,
  });
});

test("a ctx.tx that swallows the error of a statement fails with that error and what to do", async () => {
  const { rows } = await ranOnce(defineJob({ id: "careless", run: (_, ctx) => ctx.tx(swallow) }));
  expect(rows).toMatchObject([{ state: "QUEUED", failures: 1, errorMessage: expect.stringMatching(why) as string }]);
  expect(rows[0]?.errorMessage).toContain("savepoint");
});

test("and with the first of several errors: those after it only say that the transaction is broken", async () => {
  const twice = async (tx: Tx): Promise<void> => {
    await swallow(tx);
    await tx.query("select 1").catch(() => {});
  };
  const { rows } = await ranOnce(
    defineJob({ id: "in-tx", run: (_, ctx) => ctx.tx(twice) }),
    defineJob({ id: "in-hook", run() {}, onSettled: (_, __, tx) => twice(tx) }),
  );
  const expected = { state: "QUEUED", errorMessage: expect.stringMatching(why) as string };
  expect(rows).toMatchObject([expected, expected]);
});

test("an error that was dealt with in a savepoint is no failure", async () => {
  const { rows } = await ranOnce(
    defineJob({ id: "in-tx", run: (_, ctx) => ctx.tx(dealWith) }),
    defineJob({ id: "in-hook", run() {}, onSettled: (_, __, tx) => dealWith(tx) }),
  );
  expect(rows).toMatchObject([{ state: "SUCCESS" }, { state: "SUCCESS" }]);
});
