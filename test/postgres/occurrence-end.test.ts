import { expect, onTestFinished, test } from "vitest";
import { readOccurrenceEnds } from "../../src/insight/occurrence-ends.ts";
import { oneRow } from "../../src/insight/sql-query.ts";
import { aJob, claimOne, minute } from "../contract/store/fixture.ts";
import { dueOccurrence, ledger } from "../contract/store/schedule-fixture.ts";
import { messagesOf } from "./race.ts";
import { freshDatabase } from "../support/database.ts";

test("a time that FIRED and whose job was then lost and expired says so: how it ended, its error and the reason", async () => {
  const db = await freshDatabase();
  onTestFinished(() => db.close());
  const now = await db.store.now();
  const job = aJob({ kind: "sweep", dueAt: now, expiresAt: now + minute });
  const { jobId } = await dueOccurrence(db.store, {}, { job });
  const end = async () => (await oneRow(db.insight, readOccurrenceEnds, [jobId])).end;
  expect(await end()).toMatchObject({ state: "QUEUED", phase: "queued", result: "open", tookMs: null, error: null });
  expect(await claimOne(db.store, jobId)).toMatchObject({ state: "RUNNING" });
  await db.clock.advance(2 * minute);
  const again = await db.store.rescue({ limit: 10, interruptionsMax: 20 });
  const { claimed } = await db.store.claim(messagesOf(again.aftermath.outbox), { worker: "w", alone: true });
  expect(claimed).toMatchObject([{ jobId, state: "SKIPPED" }]);
  expect(await ledger(db.store)).toMatchObject([{ outcome: "FIRED" }]);
  expect(await end()).toMatchObject({
    state: "SKIPPED",
    phase: "skipped",
    result: "stopped",
    reason: "expired",
    error: { code: "WORKER_LOST", kind: "sweep" },
  });
});
