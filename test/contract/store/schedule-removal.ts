import { expect, test } from "vitest";
import type { TestStore } from "../../support/looks.ts";
import { aJob, claimOne, minute, only, show, contract, type At } from "./fixture.ts";
import { aSpec, dueOccurrence, ledger, occurrenceAt, planned } from "./schedule-fixture.ts";
import { aPause } from "../../support/pause.ts";

type Way = (store: TestStore) => Promise<unknown>;

export const removalContract = contract({
  "a schedule that is deleted through the API": (at) => {
    removing(at, {
      make: (store) => store.createSchedule(aSpec()),
      remove: (store) => store.deleteSchedule("every-minute"),
    });
  },
  "a schedule that is dropped by code": (at) => {
    removing(at, {
      make: (store) => store.installSchedules([aSpec()]),
      remove: (store) => store.installSchedules([], { apps: [aSpec().app] }),
    });
  },
});

function removing({ store, advance }: At, { make, remove }: { make: Way; remove: Way }): void {
  const due = async () => (await store.dueSchedules({ horizonMs: 0, limit: 10 })).schedules;

  async function removedLate() {
    await make(store);
    const { decidedUntil } = only(await store.schedules());
    await advance(10 * minute);
    await remove(store);
    return decidedUntil;
  }

  test("while times of it are undecided is due for a tick, and hidden from all else", async () => {
    const decidedUntil = await removedLate();
    expect(only(await due())).toMatchObject({ version: 2, decidedUntil, removed: true, carry: { edited: true } });
    expect(await store.schedules()).toEqual([]);
    expect(await store.scheduleFacts("every-minute")).toMatchObject({ row: null, ledgerFrom: null });
    expect(await store.pauseSchedule("every-minute", aPause)).toEqual({ refused: "unknown" });
    expect(await store.updateSchedule(aSpec({ overlap: "skip" }))).toEqual({ refused: "unknown" });
    expect(await store.deleteSchedule("every-minute")).toEqual({ refused: "unknown" });
    expect(await store.backfill("every-minute", [], { paceMs: 1, slotKey: "b" })).toEqual({ refused: "unknown" });
  });

  test("is gone when the tick has nothing more to decide, with the rows it wrote", async () => {
    const decidedUntil = await removedLate();
    const skipped = { outcome: "SKIPPED", reason: "deleted", job: null, version: 1 } as const;
    const page = { version: 2, carry: { missed: 0, missedUntil: null, catchUpUntil: null, edited: true } } as const;
    await planned(store, [occurrenceAt(decidedUntil + minute, skipped)], page);
    expect(only(await due())).toMatchObject({ decidedUntil: decidedUntil + minute });
    await planned(store, [], { ...page, decidedUntil: decidedUntil + minute, nextAt: null, carry: null });
    expect(await due()).toEqual([]);
    expect(only(await ledger(store))).toMatchObject({ outcome: "SKIPPED", reason: "deleted", version: 1 });
    expect((await store.scheduleFacts("every-minute"))?.versions.map((each) => each.spec === null)).toEqual([
      false,
      true,
    ]);
  });

  test("and made again takes the undecided times along, and begins its own ledger", async () => {
    const decidedUntil = await removedLate();
    await advance(minute);
    const before = await store.now();
    await make(store);
    expect(only(await store.schedules())).toMatchObject({ version: 3, decidedUntil, carry: { edited: true } });
    expect(only(await due())).not.toHaveProperty("removed");
    const facts = await store.scheduleFacts("every-minute");
    expect(facts?.ledgerFrom).toBeGreaterThanOrEqual(before);
    expect(facts?.versions.map((each) => each.spec === null)).toEqual([false, true, false]);
  });

  test("is gone with its removal when all its times are decided, and begins as a new one when it comes back before", async () => {
    await make(store);
    await planned(store, [], { decidedUntil: (await store.now()) + minute });
    await remove(store);
    expect(await store.dueSchedules({ horizonMs: 60 * minute, limit: 10 })).toMatchObject({ schedules: [] });
    await advance(10 * minute);
    const before = await store.now();
    await make(store);
    const row = only(await store.schedules());
    expect(row).toMatchObject({ version: 3, carry: null });
    expect(row.decidedUntil).toBeGreaterThanOrEqual(before);
    expect(row.nextAt).toBe(row.decidedUntil);
    await planned(store, [], { version: 3, decidedUntil: (await store.now()) + minute });
    await remove(store);
    expect(await store.endRemovals()).toBe(0);
    await make(store);
    expect(only(await store.schedules())).toMatchObject({ version: 5, carry: null });
  });

  /** A schedule with a job that ran and two that wait, removed; one job of a later time is withdrawn. */
  async function removedBusy() {
    await make(store);
    const now = await store.now();
    const { aftermath } = await planned(
      store,
      [-3, -2, -1, 1].map((k) => occurrenceAt(now + k * minute)),
    );
    const [ran, first, second, later] = only(aftermath.outbox).messages.map((message) => message.jobId);
    if (ran === undefined || first === undefined || second === undefined || later === undefined)
      throw new Error("four jobs were planned");
    await claimOne(store, ran);
    await remove(store);
    return { now, ran, first, second, later };
  }
  const outcomes = async () => (await ledger(store)).map((row) => [row.outcome, row.reason]);

  test("starts nothing more: what is planned is withdrawn, a claim skips what waits, and a pass cancels it in pages", async () => {
    const { ran, first, second, later } = await removedBusy();
    expect((await show(store, later)).job.state).toBe("CANCELED");
    expect(await store.removedJobs(10)).toBe(2);
    expect(await claimOne(store, first)).toMatchObject({ state: "SKIPPED", reason: "deleted" });
    expect([await store.removedJobs(10), await store.endRemovals()]).toEqual([1, 1]);
    const { rows } = await store.cancelRemoved({ limit: 10 });
    expect(rows.map((row) => [row.jobId, row.state])).toEqual([[second, "CANCELED"]]);
    expect((await show(store, second)).events.at(-1)?.reason).toBe("deleted");
    expect(await outcomes()).toEqual([
      ["SKIPPED", "deleted"],
      ["SKIPPED", "deleted"],
      ["FIRED", null],
    ]);
    expect([await store.removedJobs(10), await store.endRemovals()]).toEqual([0, 0]);
    expect((await store.cancelRemoved({ limit: 10 })).rows).toEqual([]);
    expect((await show(store, ran)).job.state).toBe("RUNNING");
  });

  test("and comes back while its jobs are being canceled keeps the new ones and no old one", async () => {
    const { now, first, second } = await removedBusy();
    expect((await store.cancelRemoved({ limit: 1 })).rows.map((row) => row.jobId)).toEqual([first]);
    await make(store);
    const { aftermath } = await planned(store, [occurrenceAt(now + minute, { job: aJob({ dueAt: now }) })], {
      version: 3,
    });
    const { jobId } = only(only(aftermath.outbox).messages);
    expect(await store.backfill("every-minute", [], { paceMs: 1, slotKey: "b" })).toEqual({ refused: "canceling" });
    expect(await claimOne(store, second)).toMatchObject({ state: "SKIPPED", reason: "deleted" });
    expect((await store.cancelRemoved({ limit: 10 })).rows).toEqual([]);
    expect(await store.endRemovals()).toBe(0);
    expect(await store.backfill("every-minute", [], { paceMs: 1, slotKey: "b" })).toEqual({ added: 0, again: 0 });
    expect(await claimOne(store, jobId)).toMatchObject({ state: "RUNNING" });
  });

  test("and comes back with jobs that wait has them canceled by the next pass", async () => {
    const { first, second } = await removedBusy();
    await make(store);
    expect((await store.cancelRemoved({ limit: 10 })).rows.map((row) => row.jobId)).toEqual([first, second]);
  });

  test("lets an operator's retry of what it had planned run", async () => {
    const { jobId } = await dueOccurrence(store, { enabled: true });
    await store.pauseSchedule("every-minute", aPause);
    await advance(10 * minute);
    await store.installSchedules([], { apps: [aSpec().app] });
    await store.cancelRemoved({ limit: 10 });
    await store.retry([jobId]);
    await store.relay({ limit: 10 });
    expect(await claimOne(store, jobId)).toMatchObject({ state: "RUNNING" });
  });
}
