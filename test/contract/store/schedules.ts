import { describe, expect, test } from "vitest";
import type { Store } from "../../../src/core/ports.ts";
import { FenceLost } from "../../../src/core/ports.ts";
import type { PlannedOccurrence, PlannedSchedule, ScheduleSpec } from "../../../src/core/schedule.ts";
import { aJob, claimOne, eachTest, lookAheadMs, minute, only, settleOne, show } from "./fixture.ts";
import { insertOne, running } from "./fixture.ts";
import type { OpenStore } from "./fixture.ts";

export function schedulesContract(open: OpenStore): void {
  describe("installSchedules and dueSchedules", () => {
    installing(open);
  });
  describe("plan", () => {
    planning(open);
  });
  describe("occurrences follow their job", () => {
    following(open);
  });
}

const { key: _key, dueAt: _due, delayMs: _delay, trace: _trace, ...template } = aJob({ kind: "sweep" });
const { payload: _payload, canonicalInput: _input, expiresAt: _expires, ...job } = template;

function aSpec(over: Partial<ScheduleSpec> = {}): ScheduleSpec {
  return {
    id: "every-minute",
    app: "capsule",
    expression: { form: "cron", cron: "* * * * *" },
    timezone: "UTC",
    dst: { gap: "auto", overlap: "auto" },
    misfire: { rule: "latest", maxAgeMs: null, maxCount: null, paceMs: 1_000 },
    overlap: "allow",
    startAt: null,
    endAt: null,
    enabled: true,
    tzVersion: "2026d",
    payload: null,
    job,
    materializeBeforeMs: 0,
    launch: "tick",
    ...over,
  };
}

/** One nominal time, planned with a job that is due then. The reading only has to be unique. */
function occurrenceAt(nominalAt: number, over: Partial<PlannedOccurrence> = {}): PlannedOccurrence {
  return {
    localTime: new Date(nominalAt).toISOString().slice(0, 19),
    fold: 0,
    nominalAt,
    outcome: "PLANNED",
    reason: null,
    isCatchUp: false,
    missedCount: 0,
    job: aJob({ kind: "sweep", dueAt: nominalAt }),
    ...over,
  };
}

async function planned(store: Store, occurrences: readonly PlannedOccurrence[], over: Partial<PlannedSchedule> = {}) {
  const last = occurrences.at(-1)?.nominalAt ?? (await store.now());
  const plan = {
    scheduleId: "every-minute",
    version: 1,
    decidedUntil: last,
    nextAt: last + minute,
    occurrences,
    ...over,
  };
  return await store.plan([plan], { lookAheadMs });
}

/** A schedule with one occurrence that is due now. */
async function dueOccurrence(store: Store, spec: Partial<ScheduleSpec> = {}, over: Partial<PlannedOccurrence> = {}) {
  await store.installSchedules([aSpec(spec)]);
  const nominalAt = await store.now();
  const { handoffs } = await planned(store, [occurrenceAt(nominalAt, over)]);
  return { nominalAt, jobId: only(only(handoffs).messages).jobId };
}

const ledger = async (store: Store) => await store.occurrences("every-minute", 10);

function installing(open: OpenStore): void {
  const at = eachTest(open);

  test("a new schedule has version 1, nothing decided before now, and is due for a tick", async () => {
    const { store } = at();
    const before = await store.now();
    await store.installSchedules([aSpec()]);
    const row = only(await store.schedules());
    expect(row).toMatchObject({ id: "every-minute", version: 1, source: "code", paused: false });
    expect(row.spec).toEqual(aSpec());
    expect(row.decidedUntil).toBeGreaterThanOrEqual(before);
    const due = await store.dueSchedules({ horizonMs: lookAheadMs, limit: 10 });
    expect(only(due.schedules).id).toBe("every-minute");
    expect(due.now).toBeGreaterThanOrEqual(before);
  });

  test("installing the same again changes nothing; a changed spec is a new version", async () => {
    const { store } = at();
    await store.installSchedules([aSpec()]);
    const first = only(await store.schedules());
    await store.installSchedules([aSpec()]);
    expect(only(await store.schedules())).toEqual(first);
    const changed = aSpec({ expression: { form: "every", everyMs: minute } });
    await store.installSchedules([changed]);
    expect(only(await store.schedules())).toMatchObject({ version: 2, spec: changed });
  });

  test("a changed schedule withdraws what was planned after now, and that time can be planned again", async () => {
    const { store } = at();
    await store.installSchedules([aSpec()]);
    const soon = (await store.now()) + minute;
    const { handoffs } = await planned(store, [occurrenceAt(soon)]);
    const { jobId } = only(only(handoffs).messages);
    await store.installSchedules([aSpec({ overlap: "skip" })]);
    expect(await ledger(store)).toEqual([]);
    expect((await show(store, jobId)).job.state).toBe("CANCELED");
    const row = only(await store.schedules());
    expect(row.decidedUntil).toBeLessThan(soon);
    expect((await planned(store, [occurrenceAt(soon)], { version: 2 })).occurrences).toBe(1);
    expect(only(await ledger(store))).toMatchObject({ outcome: "PLANNED", version: 2 });
  });

  test("a schedule that its app no longer has is removed with what it had planned", async () => {
    const { store } = at();
    await store.installSchedules([aSpec(), aSpec({ id: "stays" }), aSpec({ id: "foreign", app: "quiz" })]);
    const { handoffs } = await planned(store, [occurrenceAt((await store.now()) + minute)]);
    await store.installSchedules([aSpec({ id: "stays" })]);
    expect((await store.schedules()).map((row) => row.id).toSorted()).toEqual(["foreign", "stays"]);
    expect((await show(store, only(only(handoffs).messages).jobId)).job.state).toBe("CANCELED");
  });

  test("only schedules whose next time lies within the horizon are due, the oldest first, up to the limit", async () => {
    const { store } = at();
    await store.installSchedules(["a", "b", "c", "d"].map((id) => aSpec({ id })));
    const now = await store.now();
    const next = [now + 3 * minute, now + minute, now + 60 * minute, null];
    const plans = ["a", "b", "c", "d"].map((scheduleId, i) => {
      return { scheduleId, version: 1, decidedUntil: now + 1_000, nextAt: next[i] ?? null, occurrences: [] };
    });
    await store.plan(plans, { lookAheadMs });
    const due = async (limit: number) =>
      (await store.dueSchedules({ horizonMs: lookAheadMs, limit })).schedules.map((row) => row.id);
    expect(await due(10)).toEqual(["b", "a"]);
    expect(await due(1)).toEqual(["b"]);
  });

  test("a disabled schedule is not due", async () => {
    const { store } = at();
    await store.installSchedules([aSpec({ enabled: false })]);
    expect((await store.dueSchedules({ horizonMs: lookAheadMs, limit: 10 })).schedules).toEqual([]);
  });
}

function planning(open: OpenStore): void {
  const at = eachTest(open);

  test("writes occurrences PLANNED, one job each, and moves decided_until", async () => {
    const { store } = at();
    await store.installSchedules([aSpec()]);
    const nominalAt = (await store.now()) + minute;
    const { occurrences, handoffs } = await planned(store, [
      occurrenceAt(nominalAt),
      occurrenceAt(nominalAt + 60 * minute),
    ]);
    expect(occurrences).toBe(2);
    const message = only(only(handoffs).messages);
    const { job: row, events } = await show(store, message.jobId);
    expect(row).toMatchObject({ kind: "sweep", scheduleId: "every-minute", scheduledFor: nominalAt, state: "QUEUED" });
    expect(only(events)).toMatchObject({ from: null, to: "QUEUED" });
    const [later, sooner] = await ledger(store);
    expect(sooner).toMatchObject({ outcome: "PLANNED", nominalAt, decidedAt: null, version: 1, jobId: message.jobId });
    expect(later).toMatchObject({ outcome: "PLANNED", nominalAt: nominalAt + 60 * minute });
    expect((await show(store, later?.jobId ?? message.jobId)).job.state).toBe("PENDING");
    expect(only(await store.schedules())).toMatchObject({ decidedUntil: nominalAt + 60 * minute });
  });

  test("a plan made from an older version of the schedule writes nothing", async () => {
    const { store } = at();
    await store.installSchedules([aSpec()]);
    await store.installSchedules([aSpec({ overlap: "skip" })]);
    const before = only(await store.schedules());
    const { occurrences, handoffs } = await planned(store, [occurrenceAt((await store.now()) + minute)]);
    expect([occurrences, handoffs]).toEqual([0, []]);
    expect(await ledger(store)).toEqual([]);
    expect(only(await store.schedules())).toEqual(before);
    expect(await store.jobs({ limit: 10 })).toEqual([]);
  });

  test("the same nominal time is planned once, with one job", async () => {
    const { store } = at();
    await store.installSchedules([aSpec()]);
    const soon = (await store.now()) + minute;
    await planned(store, [occurrenceAt(soon)]);
    const again = await planned(store, [occurrenceAt(soon)]);
    expect([again.occurrences, again.handoffs]).toEqual([0, []]);
    expect(await store.jobs({ limit: 10 })).toHaveLength(1);
  });

  test("decided_until and next_at only move forward", async () => {
    const { store } = at();
    await store.installSchedules([aSpec()]);
    const now = await store.now();
    await planned(store, [], { decidedUntil: now + 10 * minute, nextAt: now + 11 * minute });
    await planned(store, [], { decidedUntil: now + 5 * minute, nextAt: now + 6 * minute });
    const row = only(await store.schedules());
    expect(row).toMatchObject({ decidedUntil: now + 10 * minute, nextAt: now + 11 * minute });
  });

  test("COALESCED and SKIPPED times are decided at once and have no job", async () => {
    const { store } = at();
    await store.installSchedules([aSpec()]);
    const past = (await store.now()) - 10 * minute;
    await planned(store, [
      occurrenceAt(past, { outcome: "SKIPPED", reason: "misfire", job: null }),
      occurrenceAt(past + minute, { outcome: "COALESCED", job: null }),
    ]);
    const [coalesced, skipped] = await ledger(store);
    expect(skipped).toMatchObject({ outcome: "SKIPPED", reason: "misfire", jobId: null });
    expect(coalesced).toMatchObject({ outcome: "COALESCED", jobId: null });
    expect(skipped?.decidedAt).not.toBeNull();
    expect(await store.jobs({ limit: 10 })).toEqual([]);
  });

  test("several schedules are planned in one call", async () => {
    const { store } = at();
    await store.installSchedules([aSpec({ id: "b" }), aSpec({ id: "a" })]);
    const soon = (await store.now()) + minute;
    const plan = { version: 1, decidedUntil: soon, nextAt: null, occurrences: [occurrenceAt(soon)] };
    const plans = [
      { ...plan, scheduleId: "b" },
      { ...plan, scheduleId: "a" },
      { ...plan, scheduleId: "gone" },
    ];
    const { occurrences, handoffs } = await store.plan(plans, { lookAheadMs });
    expect([occurrences, only(handoffs).messages.length]).toEqual([2, 2]);
  });

  test("under an older fence throws FenceLost and plans nothing", async () => {
    const { store } = at();
    await store.installSchedules([aSpec()]);
    await store.installFence({ name: "pass", token: 2 });
    const plan = { scheduleId: "every-minute", version: 1, nextAt: null };
    const soon = (await store.now()) + minute;
    const stale = store.plan([{ ...plan, decidedUntil: soon, occurrences: [occurrenceAt(soon)] }], {
      lookAheadMs,
      fence: { name: "pass", token: 1 },
    });
    await expect(stale).rejects.toThrow(FenceLost);
    expect(await ledger(store)).toEqual([]);
  });
}

function following(open: OpenStore): void {
  const at = eachTest(open);

  test("a claim FIRES the occurrence and says how late it was", async () => {
    const { store, advance } = at();
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

  test("a caught-up time is CAUGHT_UP, and the handler learns how many were missed", async () => {
    const { store } = at();
    const { jobId } = await dueOccurrence(store, {}, { isCatchUp: true, missedCount: 12 });
    expect(await claimOne(store, jobId)).toMatchObject({ isCatchUp: true, missedCount: 12 });
    expect(only(await ledger(store)).outcome).toBe("CAUGHT_UP");
  });

  test("a second try leaves the decision as it is", async () => {
    const { store, advance } = at();
    const { jobId } = await dueOccurrence(store);
    await settleOne(store, await claimOne(store, jobId), { to: "QUEUED", interruptions: 1 });
    const decided = only(await ledger(store));
    await advance(minute);
    await claimOne(store, jobId);
    expect(only(await ledger(store))).toEqual(decided);
  });

  test("the job of a paused schedule is SKIPPED paused, and so is its occurrence", async () => {
    const { store, pauseSchedule } = at();
    const { jobId } = await dueOccurrence(store);
    await pauseSchedule("every-minute");
    expect(await claimOne(store, jobId)).toMatchObject({ state: "SKIPPED", reason: "paused" });
    expect(only(await ledger(store))).toMatchObject({ outcome: "SKIPPED", reason: "paused" });
  });

  test("the job of a disabled schedule is SKIPPED disabled, and so is its occurrence", async () => {
    const { store } = at();
    const { jobId } = await dueOccurrence(store);
    await store.installSchedules([aSpec({ enabled: false })]);
    expect(await claimOne(store, jobId)).toMatchObject({ state: "SKIPPED", reason: "disabled" });
    expect(only(await ledger(store))).toMatchObject({ outcome: "SKIPPED", reason: "disabled" });
  });

  test("an occurrence refused by overlap is SKIPPED overlap; a held one stays PLANNED", async () => {
    const { store } = at();
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
    const { handoffs } = await planned(store, occurrences, { decidedUntil: soon });
    for (const { jobId } of only(handoffs).messages) await claimOne(store, jobId);
    expect((await ledger(store)).map((row) => [row.outcome, row.reason])).toEqual([
      ["SKIPPED", "overlap"],
      ["PLANNED", null],
    ]);
  });

  test("an occurrence whose job is canceled before it ran is SKIPPED canceled", async () => {
    const { store } = at();
    const { jobId } = await dueOccurrence(store);
    await store.cancel([jobId]);
    expect(only(await ledger(store))).toMatchObject({ outcome: "SKIPPED", reason: "canceled" });
  });

  test("an occurrence whose job could never be delivered is SKIPPED undeliverable", async () => {
    const { store } = at();
    const { jobId } = await dueOccurrence(store);
    await store.undelivered([{ jobId, generation: 1, trace: "" }], { undeliveredMax: 1, backoffMs: 0 });
    expect(only(await ledger(store))).toMatchObject({ outcome: "SKIPPED", reason: "undeliverable" });
  });

  test("the ledger shows the newest first, up to the limit", async () => {
    const { store } = at();
    await store.installSchedules([aSpec()]);
    const now = await store.now();
    await planned(store, [occurrenceAt(now), occurrenceAt(now + minute), occurrenceAt(now + 2 * minute)]);
    expect((await store.occurrences("every-minute", 2)).map((row) => row.nominalAt - now)).toEqual([
      2 * minute,
      minute,
    ]);
    expect(await store.occurrences("other", 2)).toEqual([]);
  });

  test("a job that no schedule made has no schedule", async () => {
    const { store } = at();
    expect((await show(store, await insertOne(store))).job).toMatchObject({ scheduleId: null, scheduledFor: null });
  });
}
