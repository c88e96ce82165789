import { expect, test } from "vitest";
import type { JobId } from "../../../src/machine/job.ts";
import type { TestStore } from "../../support/looks.ts";
import type { PlannedOccurrence } from "../../../src/machine/schedule.ts";
import { aJob, claimOne, minute, only, settleOne, show, contract, type At } from "./fixture.ts";
import { aSpec, dueOccurrence, ledger, occurrenceAt, planned } from "./schedule-fixture.ts";
import { aPause } from "../../support/pause.ts";

const slotKey = "backfill:every-minute";
const paceMs = 10_000;

export const backfillContract = contract({ backfill: filling, "backfill leaves alone": leaving });

/** Backfills these times under version 1. */
const backfill = (store: TestStore, occurrences: readonly PlannedOccurrence[]) =>
  store.backfill(
    "every-minute",
    occurrences.map((occurrence) => ({ occurrence, version: 1 })),
    { paceMs, slotKey },
  );

/** A past time with a job of the backfill's own slot. */
const pastTime = (nominalAt: number): PlannedOccurrence =>
  occurrenceAt(nominalAt, { isCatchUp: true, job: aJob({ kind: "sweep", slotKeys: [slotKey] }) });

async function installed(store: TestStore): Promise<number> {
  await store.installSlots([{ key: slotKey, size: 1, onRefusal: "hold", reason: "slot" }]);
  await store.installSchedules([aSpec()]);
  return await store.now();
}

function filling({ store, advance }: At): void {
  test("a time without a row gets one, with a job that is due a pace later than the one before", async () => {
    const now = await installed(store);
    const times = [3, 2, 1].map((k) => pastTime(now - k * minute));
    expect(await backfill(store, times)).toEqual({ added: 3, again: 0 });
    const rows = (await ledger(store)).toReversed();
    expect(rows.map((row) => [row.outcome, row.nominalAt, row.version])).toEqual(
      times.map((time) => ["PLANNED", time.nominalAt, 1]),
    );
    const jobs = await jobsOf(store, rows);
    const [first, second, third] = jobs.map((job) => job.dueAt);
    expect(first).toBeGreaterThanOrEqual(now + paceMs);
    expect([(second ?? 0) - (first ?? 0), (third ?? 0) - (second ?? 0)]).toEqual([paceMs, paceMs]);
    expect(jobs.map((job) => [job.state, job.scheduledFor])).toEqual(times.map((time) => ["PENDING", time.nominalAt]));
    await advance(minute);
    await store.relay({ limit: 10 });
    expect(await claimOne(store, idOf(rows[0]))).toMatchObject({ state: "RUNNING", isCatchUp: true });
    expect((await ledger(store)).at(-1)).toMatchObject({ outcome: "CAUGHT_UP" });
  });

  test("a second backfill goes on where the first one's waiting jobs end", async () => {
    const now = await installed(store);
    await backfill(store, [pastTime(now - 5 * minute), pastTime(now - 4 * minute)]);
    await backfill(store, [pastTime(now - 3 * minute)]);
    const due = (await jobsOf(store, (await ledger(store)).toReversed())).map((job) => job.dueAt);
    expect(due.slice(1).map((each, k) => each - (due[k] ?? 0))).toEqual([paceMs, paceMs]);
  });

  test("a time that was SKIPPED or COALESCED without a job is planned again", async () => {
    const now = await installed(store);
    const [skipped, coalesced] = [pastTime(now - 2 * minute), pastTime(now - minute)];
    await planned(store, [
      { ...skipped, outcome: "SKIPPED", reason: "misfire", job: null },
      { ...coalesced, outcome: "COALESCED", reason: "into later", job: null },
    ]);
    expect(await backfill(store, [skipped, coalesced])).toEqual({ added: 0, again: 2 });
    expect((await ledger(store)).map((row) => [row.outcome, row.reason, row.decidedAt])).toEqual([
      ["PLANNED", null, null],
      ["PLANNED", null, null],
    ]);
  });

  test("a job that was SKIPPED before it ran is used again, under its id and with its history", async () => {
    await store.installSlots([{ key: slotKey, size: 1, onRefusal: "hold", reason: "slot" }]);
    const { jobId, nominalAt } = await dueOccurrence(store);
    await store.pauseSchedule("every-minute", aPause);
    await claimOne(store, jobId);
    await store.pauseSchedule("every-minute", null);
    expect(await backfill(store, [pastTime(nominalAt)])).toEqual({ added: 0, again: 1 });
    const { job, events } = await show(store, jobId);
    expect([job.state, events.map((event) => [event.to, event.reason])]).toEqual([
      "PENDING",
      [
        ["PENDING", null],
        ["SKIPPED", "paused"],
        ["PENDING", "backfill"],
      ],
    ]);
    await advance(minute);
    await store.relay({ limit: 10 });
    expect(await claimOne(store, jobId)).toMatchObject({ state: "RUNNING", slotKeys: [slotKey] });
    expect(only(await ledger(store))).toMatchObject({ outcome: "CAUGHT_UP", jobId });
  });
}

function leaving({ store }: At): void {
  test("what has run, runs or waits, however often it is asked", async () => {
    const now = await installed(store);
    const past = [3, 2, 1].map((k) => occurrenceAt(now - k * minute));
    const { outbox } = (await planned(store, past)).aftermath;
    const [ran, runs] = only(outbox).messages.map((message) => message.jobId);
    if (ran === undefined || runs === undefined) throw new Error("three jobs were planned");
    await settleOne(store, await claimOne(store, ran), { to: "FAILED", failures: 1, errorCode: "X" });
    await claimOne(store, runs);
    const before = await ledger(store);
    expect(
      await backfill(
        store,
        past.map((time) => pastTime(time.nominalAt)),
      ),
    ).toEqual({ added: 0, again: 0 });
    expect(await ledger(store)).toEqual(before);
    expect(await store.jobs()).toHaveLength(3);
  });

  test("what an earlier backfill planned", async () => {
    const now = await installed(store);
    await backfill(store, [pastTime(now - minute)]);
    expect(await backfill(store, [pastTime(now - minute)])).toEqual({ added: 0, again: 0 });
  });

  test("another reading of an instant that has its row", async () => {
    const now = await installed(store);
    await planned(store, [
      occurrenceAt(now - minute),
      occurrenceAt(now - minute, { localTime: "merged", outcome: "COALESCED", reason: "into", job: null }),
    ]);
    const merged = { ...pastTime(now - minute), localTime: "merged" };
    const elsewhere = { ...pastTime(now - minute), localTime: "in another zone" };
    expect(await backfill(store, [merged, elsewhere])).toEqual({ added: 0, again: 0 });
    expect(await store.jobs()).toHaveLength(1);
  });

  test("a schedule that does not exist", async () => {
    expect(await backfill(store, [pastTime(await store.now())])).toEqual({ refused: "unknown" });
  });
}

const idOf = (row: { jobId: JobId | null } | undefined): JobId => {
  if (row?.jobId == null) throw new Error("this time has no job");
  return row.jobId;
};

async function jobsOf(store: TestStore, rows: readonly { jobId: JobId | null }[]) {
  const shown = await Promise.all(rows.map((row) => show(store, idOf(row))));
  return shown.map(({ job }) => job);
}
