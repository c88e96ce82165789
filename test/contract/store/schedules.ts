import { expect, test } from "vitest";
import { FenceLost } from "../../../src/machine/fence.ts";
import { everySchedule } from "../../../src/schedule/install-schedules.ts";
import { aJob, minute, only, show, dispatchWindowMs, contract, type At } from "./fixture.ts";
import { aSpec, ledger, occurrenceAt, planned } from "./schedule-fixture.ts";

export const schedulesContract = contract({
  "installSchedules and dueSchedules": installing,
  dueSchedules: due,
  plan: planning,
  "plan: what moves forward": moving,
});

function installing({ store }: At): void {
  test("a new schedule has version 1, nothing decided before now, and is due for a tick", async () => {
    const before = await store.now();
    await store.installSchedules([aSpec()]);
    const row = only(await store.schedules());
    expect(row).toMatchObject({ id: "every-minute", version: 1, source: "code", pause: null });
    expect(row.spec).toEqual(aSpec());
    expect(row.decidedUntil).toBeGreaterThanOrEqual(before);
    const due = await store.dueSchedules({ horizonMs: dispatchWindowMs, limit: 10 });
    expect(only(due.schedules).id).toBe("every-minute");
    expect(due.now).toBeGreaterThanOrEqual(before);
  });

  test("installing the same again changes nothing; a changed spec is a new version", async () => {
    await store.installSchedules([aSpec()]);
    const first = only(await store.schedules());
    await store.installSchedules([aSpec()]);
    expect(only(await store.schedules())).toEqual(first);
    const changed = aSpec({ expression: { form: "every", everyMs: minute } });
    await store.installSchedules([changed]);
    expect(only(await store.schedules())).toMatchObject({ version: 2, spec: changed });
  });

  test("a changed schedule withdraws what was planned after now, and that time can be planned again", async () => {
    await store.installSchedules([aSpec()]);
    const soon = (await store.now()) + minute;
    const { outbox } = (
      await planned(store, [
        occurrenceAt(soon),
        occurrenceAt(soon + minute, { outcome: "SKIPPED", reason: "excluded", job: null }),
      ])
    ).aftermath;
    const { jobId } = only(only(outbox).messages);
    await store.installSchedules([aSpec({ overlap: "skip" })]);
    expect(await ledger(store)).toEqual([]);
    expect((await show(store, jobId)).job.state).toBe("CANCELED");
    const row = only(await store.schedules());
    expect(row.decidedUntil).toBeLessThan(soon);
    expect((await planned(store, [occurrenceAt(soon)], { version: 2 })).occurrences).toBe(1);
    expect(only(await ledger(store))).toMatchObject({ outcome: "PLANNED", version: 2 });
  });

  test("a schedule that its app no longer has is removed with what it had planned", async () => {
    await store.installSchedules([aSpec(), aSpec({ id: "stays" }), aSpec({ id: "foreign", app: "quiz" })]);
    const { outbox } = (await planned(store, [occurrenceAt((await store.now()) + minute)])).aftermath;
    await store.installSchedules([aSpec({ id: "stays" })]);
    expect((await store.schedules()).map((row) => row.id).toSorted()).toEqual(["foreign", "stays"]);
    expect((await show(store, only(only(outbox).messages).jobId)).job.state).toBe("CANCELED");
  });

  test("the last schedules of an app go when the app is named, and those of people stay", async () => {
    await store.installSchedules([aSpec(), aSpec({ id: "foreign", app: "quiz" })]);
    await store.createSchedule(aSpec({ id: "by-hand" }));
    await store.installSchedules([]);
    expect(await store.schedules()).toHaveLength(3);
    const { outbox } = (await planned(store, [occurrenceAt((await store.now()) + minute)])).aftermath;
    await store.installSchedules([], { apps: ["capsule"] });
    expect((await store.schedules()).map((row) => row.id).toSorted()).toEqual(["by-hand", "foreign"]);
    expect((await show(store, only(only(outbox).messages).jobId)).job.state).toBe("CANCELED");
  });
}

function due({ store, advance }: At): void {
  test("only schedules whose next time lies within the horizon are due, the oldest first, up to the limit", async () => {
    await store.installSchedules(["a", "b", "c", "d"].map((id) => aSpec({ id })));
    const now = await store.now();
    const next = [now + 3 * minute, now + minute, now + 60 * minute, null];
    const plans = ["a", "b", "c", "d"].map((scheduleId, i) => {
      return { scheduleId, version: 1, decidedUntil: now + 1_000, nextAt: next[i] ?? null, occurrences: [] };
    });
    await store.plan(plans);
    const due = async (limit: number) =>
      (await store.dueSchedules({ horizonMs: dispatchWindowMs, limit })).schedules.map((row) => row.id);
    expect(await due(10)).toEqual(["b", "a"]);
    expect(await due(1)).toEqual(["b"]);
  });

  test("are listed by id, a page after another", async () => {
    const ids = ["c", "a", "d", "b", "e"];
    await store.installSchedules(ids.map((id) => aSpec({ id })));
    expect((await store.schedules({ limit: 2, after: "b" })).map((row) => row.id)).toEqual(["c", "d"]);
    expect((await everySchedule(store, 2)).map((row) => row.id)).toEqual(["a", "b", "c", "d", "e"]);
    expect(await everySchedule(store, 5)).toHaveLength(5);
  });

  test("a chain follows its leader's times from the oldest, and of a full page no further than that", async () => {
    const after = { form: "after", schedule: "every-minute", withinMs: 60 * minute, on: "end" } as const;
    await store.installSchedules([aSpec(), aSpec({ id: "behind", expression: after })]);
    const begin = await store.now();
    await store.plan([{ scheduleId: "behind", version: 1, decidedUntil: begin, nextAt: null, occurrences: [] }]);
    await advance(3 * minute);
    const [first, second, third] = [1, 2, 3].map((n) => begin + n * minute) as [number, number, number];
    const none = { outcome: "SKIPPED", reason: "missed", job: null } as const;
    await planned(
      store,
      [first, second, third].map((time) => occurrenceAt(time, none)),
    );
    const follows = async (timesMax: number) => {
      const { times, until } = only((await store.chains({ ids: ["behind"], timesMax })).chains);
      return [times.map(({ nominalAt }) => nominalAt), until];
    };
    expect(await follows(2)).toEqual([[first, second], second - 1]);
    expect(await follows(4)).toEqual([[first, second, third], third]);
  });

  test("a disabled schedule is not due", async () => {
    await store.installSchedules([aSpec({ enabled: false })]);
    expect((await store.dueSchedules({ horizonMs: dispatchWindowMs, limit: 10 })).schedules).toEqual([]);
  });
}

function planning({ store }: At): void {
  test("writes occurrences PLANNED, one job each, and moves decided_until", async () => {
    await store.installSchedules([aSpec()]);
    const nominalAt = (await store.now()) + minute;
    const { occurrences, aftermath } = await planned(store, [
      occurrenceAt(nominalAt),
      occurrenceAt(nominalAt + 60 * minute),
    ]);
    expect(occurrences).toBe(2);
    const message = only(only(aftermath.outbox).messages);
    const { job: row } = await show(store, message.jobId);
    expect(row).toMatchObject({ kind: "sweep", scheduleId: "every-minute", scheduledFor: nominalAt, state: "QUEUED" });
    const [later, sooner] = await ledger(store);
    expect(sooner).toMatchObject({ outcome: "PLANNED", nominalAt, decidedAt: null, version: 1, jobId: message.jobId });
    expect(later).toMatchObject({ outcome: "PLANNED", nominalAt: nominalAt + 60 * minute });
    expect((await show(store, later?.jobId ?? message.jobId)).job.state).toBe("PENDING");
    expect(only(await store.schedules())).toMatchObject({ decidedUntil: nominalAt + 60 * minute });
  });

  test("a plan made from an older version of the schedule writes nothing", async () => {
    await store.installSchedules([aSpec()]);
    await store.installSchedules([aSpec({ overlap: "skip" })]);
    const before = only(await store.schedules());
    const { occurrences, aftermath } = await planned(store, [occurrenceAt((await store.now()) + minute)]);
    expect([occurrences, aftermath.outbox]).toEqual([0, []]);
    expect(await ledger(store)).toEqual([]);
    expect(only(await store.schedules())).toEqual(before);
    expect(await store.jobs()).toEqual([]);
  });

  test("the same nominal time is planned once, with one job", async () => {
    await store.installSchedules([aSpec()]);
    const soon = (await store.now()) + minute;
    await planned(store, [occurrenceAt(soon)]);
    const again = await planned(store, [occurrenceAt(soon)]);
    expect([again.occurrences, again.aftermath.outbox]).toEqual([0, []]);
    expect(await store.jobs()).toHaveLength(1);
  });

  test("a reading that comes round again in another zone is another time, with a job of its own", async () => {
    const eight = { localTime: "2026-11-21T08:00", fold: 0 } as const;
    await store.installSchedules([aSpec({ timezone: "America/New_York" })]);
    const now = await store.now();
    await planned(store, [occurrenceAt(now, { ...eight, timezone: "America/New_York" })]);
    await store.installSchedules([aSpec({ timezone: "America/Los_Angeles" })]);
    const later = occurrenceAt(now + 180 * minute, { ...eight, timezone: "America/Los_Angeles" });
    expect((await planned(store, [later], { version: 2 })).occurrences).toBe(1);
    expect((await ledger(store)).map((row) => [row.timezone, row.localTime, row.nominalAt, row.version])).toEqual([
      ["America/Los_Angeles", eight.localTime, now + 180 * minute, 2],
      ["America/New_York", eight.localTime, now, 1],
    ]);
    expect(await store.jobs()).toHaveLength(2);
    await store.installSchedules([aSpec({ timezone: "UTC" })]);
    expect((await ledger(store)).map((row) => row.timezone)).toEqual(["America/New_York"]);
  });
}

function moving({ store }: At): void {
  test("decided_until and next_at only move forward", async () => {
    await store.installSchedules([aSpec()]);
    const now = await store.now();
    await planned(store, [], { decidedUntil: now + 10 * minute, nextAt: now + 11 * minute });
    await planned(store, [], { decidedUntil: now + 5 * minute, nextAt: now + 6 * minute });
    const row = only(await store.schedules());
    expect(row).toMatchObject({ decidedUntil: now + 10 * minute, nextAt: now + 11 * minute });
  });

  test("COALESCED and SKIPPED times are decided at once and have no job", async () => {
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
    expect(await store.jobs()).toEqual([]);
  });

  test("several schedules are planned in one call", async () => {
    await store.installSchedules([aSpec({ id: "b" }), aSpec({ id: "a" })]);
    const soon = (await store.now()) + minute;
    const plan = { version: 1, decidedUntil: soon, nextAt: null };
    const plans = [
      { ...plan, scheduleId: "b", occurrences: [occurrenceAt(soon)] },
      { ...plan, scheduleId: "a", occurrences: [occurrenceAt(soon, { job: aJob({ lane: "slow", dueAt: soon }) })] },
      { ...plan, scheduleId: "gone", occurrences: [occurrenceAt(soon)] },
    ];
    const { occurrences, aftermath } = await store.plan(plans);
    expect(occurrences).toBe(2);
    expect(Object.fromEntries(aftermath.outbox.map(({ lane, messages }) => [lane, messages.length]))).toEqual({
      default: 1,
      slow: 1,
    });
  });

  test("under an older fence throws FenceLost and plans nothing", async () => {
    await store.installSchedules([aSpec()]);
    await store.installFence({ name: "pass", token: 2 });
    const plan = { scheduleId: "every-minute", version: 1, nextAt: null };
    const soon = (await store.now()) + minute;
    const stale = store.plan([{ ...plan, decidedUntil: soon, occurrences: [occurrenceAt(soon)] }], {
      fence: { name: "pass", token: 1 },
    });
    await expect(stale).rejects.toThrow(FenceLost);
    expect(await ledger(store)).toEqual([]);
  });

  test("a plan made before another process decided more writes nothing", async () => {
    await store.installSchedules([aSpec()]);
    const { decidedUntil } = only(await store.schedules());
    await planned(store, [], { decidedUntil: decidedUntil + 5 * minute });
    const late = { decidedFrom: decidedUntil, decidedUntil: decidedUntil + 10 * minute };
    const { occurrences } = await planned(store, [occurrenceAt(decidedUntil + 6 * minute)], late);
    expect(occurrences).toBe(0);
    expect(only(await store.schedules()).decidedUntil).toBe(decidedUntil + 5 * minute);
  });

  test("what one tick leaves for the next comes back, and an edit keeps it: edits in a row are no flood", async () => {
    await store.installSchedules([aSpec()]);
    const { decidedUntil } = only(await store.schedules());
    const carry = { missed: 3, missedUntil: null, catchUpUntil: decidedUntil + minute };
    await planned(store, [], { decidedFrom: decidedUntil, decidedUntil: decidedUntil + 1_000, carry });
    expect(only(await store.schedules()).carry).toEqual(carry);
    await store.installSchedules([aSpec({ overlap: "skip" })]);
    expect(only(await store.schedules())).toMatchObject({ version: 2, carry });
  });
}
