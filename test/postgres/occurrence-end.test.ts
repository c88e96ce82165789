import { expect, test } from "vitest";
import { replacerOf } from "../../src/admission/overlap.ts";
import { readOccurrenceEnds } from "../../src/insight/occurrence-ends.ts";
import { oneRow } from "../../src/insight/sql-query.ts";
import { aJob, claimOne, minute, settlementOf, settleOptions } from "../contract/store/fixture.ts";
import { aRun, aTask } from "../contract/store/run-fixture.ts";
import { dueOccurrence, ledger } from "../contract/store/schedule-fixture.ts";
import { messagesOf } from "./race.ts";
import { testDatabase } from "../support/database.ts";

test("a time that FIRED and whose job was then lost and expired says so: how it ended, its error and the reason", async () => {
  const db = await testDatabase();
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

test("a time whose job started a run says why that was canceled", async () => {
  const db = await testDatabase();
  const { jobId } = await dueOccurrence(db.store, {}, { job: aJob({ kind: "months", dueAt: await db.store.now() }) });
  const starter = await claimOne(db.store, jobId);
  const runId = await db.store.transaction(async (tx) => {
    const started = await db.store.startRun(aRun({ tasks: [aTask("load")], starterId: jobId }), { tx });
    await db.store.settle([settlementOf(starter, {})], { ...settleOptions, tx });
    return started.runId;
  });
  const end = async () => (await oneRow(db.insight, readOccurrenceEnds, [jobId])).end;
  expect(await end()).toMatchObject({ state: "SUCCESS", run: { state: "RUNNING" }, result: "open", reason: null });
  await db.store.cancelRun(runId, { caller: replacerOf("s", await db.store.now()) });
  expect(await end()).toMatchObject({ run: { id: runId, state: "CANCELING" }, reason: "replaced" });
});
