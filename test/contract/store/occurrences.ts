import { expect, test } from "vitest";
import {
  aJob,
  claimOne,
  failure,
  insertOne,
  minute,
  only,
  running,
  settleOne,
  show,
  contract,
  type At,
} from "./fixture.ts";
import { aSpec, dueOccurrence, ledger, occurrenceAt, planned } from "./schedule-fixture.ts";
import { aPause } from "../../support/pause.ts";

export const occurrencesContract = contract({
  "occurrences follow their job": following,
  "occurrences that are skipped": skipped,
});

function following({ store, advance }: At): void {
  test("a claim FIRES the occurrence and says how late it was", async () => {
    const { jobId, nominalAt } = await dueOccurrence(store);
    await advance(minute);
    const claimed = await claimOne(store, jobId);
    expect(claimed).toMatchObject({ scheduleId: "every-minute", scheduledFor: nominalAt, isCatchUp: false });
    expect(claimed.latenessMs).toBeGreaterThanOrEqual(minute);
    const fired = only(await ledger(store));
    expect(fired).toMatchObject({ outcome: "FIRED", reason: null, jobId });
    expect(fired.decidedAt).toBeGreaterThanOrEqual(nominalAt + minute);
    expect(fired.latenessMs).toBeGreaterThanOrEqual(minute);
  });

  test("a later attempt is as late as its time is past, however lately its retry was due", async () => {
    const { jobId } = await dueOccurrence(store);
    await settleOne(store, await claimOne(store, jobId), { ...failure, delayMs: 2 * minute });
    await advance(2 * minute);
    await store.relay({ limit: 10 });
    expect((await claimOne(store, jobId)).latenessMs).toBeGreaterThanOrEqual(2 * minute);
  });

  test("a caught-up time is CAUGHT_UP, and the handler learns how many were missed", async () => {
    const { jobId } = await dueOccurrence(store, {}, { isCatchUp: true, missedCount: 12 });
    expect(await claimOne(store, jobId)).toMatchObject({ isCatchUp: true, missedCount: 12 });
    expect(only(await ledger(store)).outcome).toBe("CAUGHT_UP");
  });

  test("a second try leaves the decision as it is", async () => {
    const { jobId } = await dueOccurrence(store);
    await settleOne(store, await claimOne(store, jobId), { to: "QUEUED", interruptions: 1 });
    const decided = only(await ledger(store));
    await advance(minute);
    await claimOne(store, jobId);
    expect(only(await ledger(store))).toEqual(decided);
  });
}

function skipped({ store, advance }: At): void {
  test("the job of a paused schedule is SKIPPED paused, and so is its occurrence", async () => {
    const { jobId } = await dueOccurrence(store);
    await store.pauseSchedule("every-minute", aPause);
    expect(await claimOne(store, jobId)).toMatchObject({ state: "SKIPPED", reason: "paused" });
    expect(only(await ledger(store))).toMatchObject({ outcome: "SKIPPED", reason: "paused" });
  });

  test("the job of a disabled schedule is SKIPPED disabled, and so is its occurrence", async () => {
    const { jobId } = await dueOccurrence(store);
    await store.installSchedules([aSpec({ enabled: false })]);
    expect(await claimOne(store, jobId)).toMatchObject({ state: "SKIPPED", reason: "disabled" });
    expect(only(await ledger(store))).toMatchObject({ outcome: "SKIPPED", reason: "disabled" });
  });

  test("a job that was not claimed before it expires is SKIPPED expired, and so is its occurrence", async () => {
    const soon = await store.now();
    const job = aJob({ kind: "sweep", dueAt: soon, expiresAt: soon + minute });
    const { jobId } = await dueOccurrence(store, {}, { job });
    await advance(minute);
    expect(await claimOne(store, jobId)).toMatchObject({ state: "SKIPPED", reason: "expired" });
    expect(only(await ledger(store))).toMatchObject({ outcome: "SKIPPED", reason: "expired" });
  });

  test("an occurrence refused by overlap is SKIPPED overlap; a held one stays PLANNED", async () => {
    await store.installSlots([
      { key: "overlap:s", size: 1, onRefusal: "skip", reason: "overlap" },
      { key: "cap:x", size: 1, onRefusal: "hold", reason: "slot" },
    ]);
    await running(store, { slotKeys: ["overlap:s"] });
    await running(store, { slotKeys: ["cap:x"] });
    const soon = await store.now();
    const overlapping = aJob({ kind: "sweep", dueAt: soon, slotKeys: ["overlap:s"] });
    const capped = aJob({ kind: "sweep", dueAt: soon, slotKeys: ["cap:x"] });
    await store.installSchedules([aSpec()]);
    const occurrences = [occurrenceAt(soon, { job: overlapping }), occurrenceAt(soon - minute, { job: capped })];
    const { outbox } = (await planned(store, occurrences, { decidedUntil: soon })).aftermath;
    for (const { jobId } of only(outbox).messages) await claimOne(store, jobId);
    expect((await ledger(store)).map((row) => [row.outcome, row.reason])).toEqual([
      ["SKIPPED", "overlap"],
      ["PLANNED", null],
    ]);
  });

  test("an occurrence whose job is canceled before it ran is SKIPPED canceled", async () => {
    const { jobId } = await dueOccurrence(store);
    await store.cancel([jobId]);
    expect(only(await ledger(store))).toMatchObject({ outcome: "SKIPPED", reason: "canceled" });
  });

  test("an occurrence whose job could never be delivered is SKIPPED undeliverable", async () => {
    const { jobId } = await dueOccurrence(store);
    await store.returnUndelivered([{ jobId, generation: 1, trace: "" }], { undeliveredMax: 1, backoffMs: 0 });
    expect(only(await ledger(store))).toMatchObject({ outcome: "SKIPPED", reason: "undeliverable" });
  });

  test("the ledger shows the newest first, up to the limit", async () => {
    await store.installSchedules([aSpec()]);
    const now = await store.now();
    await planned(store, [occurrenceAt(now), occurrenceAt(now + minute), occurrenceAt(now + 2 * minute)]);
    expect((await store.occurrences("every-minute", undefined, 2)).map((row) => row.nominalAt - now)).toEqual([
      2 * minute,
      minute,
    ]);
    expect(await store.occurrences("other")).toEqual([]);
  });

  test("a job that no schedule made has no schedule", async () => {
    expect((await show(store, await insertOne(store))).job).toMatchObject({ scheduleId: null, scheduledFor: null });
  });
}
