import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineApp } from "../../src/core/define/define-app.ts";
import { defineJob, definitionOf } from "../../src/core/define/define-job.ts";
import { defineSchedule } from "../../src/core/define/define-schedule.ts";
import { registry } from "../../src/core/define/definition.ts";
import type { SlotGroup } from "../../src/core/job/job.ts";
import type { TimeDecision } from "../../src/core/scheduler/catch-up.ts";
import { plannedOf, plannedRow } from "../../src/core/scheduler/fire.ts";
import { installDefinitions } from "../../src/core/scheduler/install-schedules.ts";
import { slotGroupsOfSchedule, slotKeysOfFire } from "../../src/core/scheduler/overlap.ts";
import { definitionOfKind, ScheduleRefused } from "../../src/core/scheduler/schedule-refused.ts";
import { recordingLog, recordingMetrics } from "../../src/testing/recording.ts";
import { referenceStore } from "../support/reference-store.ts";
import { aRow, aSpec, midnight, minute } from "./spec.ts";

const work = defineJob({ id: "work", run: () => {} });
const mail = defineJob({ id: "mail", payload: z.object({ day: z.string() }), run: () => {} });

const decision = (over: Partial<TimeDecision> = {}): TimeDecision => ({
  time: { kind: "fires", localTime: "2026-11-21T00:05", fold: 0, instant: midnight + 5 * minute, mergedInto: null },
  outcome: "PLANNED",
  reason: null,
  isCatchUp: true,
  missedCount: 3,
  dueAt: midnight + 5 * minute,
  ...over,
});

/** Schedule "s" of code, whose payload function gives this. */
const coded = (payload: () => { day: string }) =>
  registry([
    defineApp({
      name: "test",
      jobs: [work, mail],
      schedules: [defineSchedule({ id: "s", cron: "* * * * *", timezone: "UTC", run: mail, payload })],
    }),
  ]);
const fine = coded(() => ({ day: "of code" }));
const spec = aSpec({ job: { ...aSpec().job, kind: "mail" } });
const fire = (over: Partial<typeof spec>, definitions = fine, each = decision()) =>
  plannedRow(aRow({ spec: { ...spec, ...over } }), each, definitionOf(mail), {
    registry: definitions,
    stage: "test",
    trace: "t",
  });

describe("the occurrence of a decided time", () => {
  test("has a job if the time is PLANNED, and none if it is not", async () => {
    const { occurrence, failure } = await fire({});
    expect(failure).toBeNull();
    expect(occurrence).toMatchObject({ outcome: "PLANNED", isCatchUp: true, missedCount: 3 });
    expect(occurrence.job).toMatchObject({ payload: { day: "of code" }, dueAt: midnight + 5 * minute });
    for (const outcome of ["SKIPPED", "COALESCED"] as const) {
      const other = await fire({}, fine, decision({ outcome, reason: "r", isCatchUp: false, dueAt: null }));
      expect(other).toMatchObject({ failure: null, occurrence: { outcome, reason: "r", job: null } });
    }
  });

  test("has the payload that is stored with the schedule, before that of code", async () => {
    expect((await fire({ payload: { day: "stored" } })).occurrence.job?.payload).toEqual({ day: "stored" });
    const unknown = registry([defineApp({ name: "test", jobs: [mail], schedules: [] })]);
    expect((await fire({ payload: { day: "stored" } }, unknown)).occurrence.job?.payload).toEqual({ day: "stored" });
  });

  test.each([
    ["a reason", "a reason"],
    [new RangeError("no such day"), "no such day"],
  ])("is SKIPPED payload, and no catch-up, when its function throws %s", async (thrown, message) => {
    const broken = coded(() => {
      throw thrown;
    });
    const { occurrence, failure } = await fire({}, broken);
    expect(failure).toEqual({ localTime: "2026-11-21T00:05", message });
    expect(occurrence).toMatchObject({ outcome: "SKIPPED", reason: "payload", isCatchUp: false, job: null });
  });

  test("expires after its start deadline, counted from the nominal time, if it has a due time", async () => {
    const expires = async (over: Partial<typeof spec>, dueAt: number | null) =>
      (await fire(over, fine, decision({ dueAt }))).occurrence.job?.expiresAt;
    expect(await expires({}, midnight)).toBeNull();
    expect(await expires({}, null)).toBeNull();
    expect(await expires({ startDeadlineMs: minute }, null)).toBeNull();
    expect(await expires({ startDeadlineMs: minute }, midnight)).toBe(midnight + 6 * minute);
  });

  test("of a kind that is no longer defined is SKIPPED no-job where it would have had a job", async () => {
    const ports = { random: { next: () => 0.5, id: () => "id" }, log: recordingLog([]), metrics: recordingMetrics([]) };
    const merged = decision({ outcome: "COALESCED", reason: "into x", isCatchUp: false, missedCount: 0, dueAt: null });
    const decisions = [decision(), merged];
    const plan = { decisions, decidedUntil: midnight, nextAt: null, carry: null, missed: 2, isComplete: true };
    const row = aRow({ version: 7 });
    const where = { registry: registry([]), stage: "test" };
    const { planned, payloadFailed } = await plannedOf(ports, { row, decider: row, plan }, where);
    expect(payloadFailed).toBe(0);
    const same = { localTime: "2026-11-21T00:05", fold: 0, timezone: "UTC", nominalAt: midnight + 5 * minute };
    const none = { ...same, isCatchUp: false, job: null, version: 7 };
    expect(planned.occurrences).toEqual([
      { ...none, outcome: "SKIPPED", reason: "no-job", missedCount: 3 },
      { ...none, outcome: "COALESCED", reason: "into x", missedCount: 0 },
    ]);
  });
});

test("the slots of a schedule and of its jobs, by its overlap rule", () => {
  const caught: SlotGroup = { key: "catchup:s", size: 1, onRefusal: "hold", reason: "slot" };
  const own = (onRefusal: SlotGroup["onRefusal"]): SlotGroup => ({
    key: "overlap:s",
    size: 1,
    onRefusal,
    reason: "overlap",
  });
  const of = (overlap: "allow" | "skip" | "queue-one") => [
    slotGroupsOfSchedule({ id: "s", overlap }),
    slotKeysOfFire({ id: "s", overlap }, false),
    slotKeysOfFire({ id: "s", overlap }, true),
  ];
  expect(of("allow")).toEqual([[caught], [], ["catchup:s"]]);
  expect(of("skip")).toEqual([[own("skip"), caught], ["overlap:s"], ["catchup:s", "overlap:s"]]);
  expect(of("queue-one")).toEqual([[own("queue-one"), caught], ["overlap:s"], ["catchup:s", "overlap:s"]]);
});

test("a kind that is not defined is refused with the first twenty that are", () => {
  const jobs = Array.from({ length: 25 }, (_, n) => defineJob({ id: `job-${n}`, run: () => {} }));
  const known = Array.from({ length: 20 }, (_, n) => `job-${n}`).join(", ");
  expect(() => definitionOfKind(registry([defineApp({ name: "test", jobs })]), "none")).toThrow(
    new ScheduleRefused("unknown-kind", `no job is defined as "none" in this process; there are ${known}`),
  );
});

describe("installing definitions", () => {
  /** What is stored, by app, after an install by app "test" with or without a schedule. */
  async function installed({ isAlone, has = true }: { isAlone?: boolean; has?: boolean }) {
    const store = referenceStore(() => midnight);
    await store.installSchedules([aSpec({ id: "s" }), aSpec({ id: "left", app: "other" })]);
    const schedules = has ? [defineSchedule({ id: "s", cron: "* * * * *", timezone: "UTC", run: work })] : [];
    const slots: (readonly SlotGroup[])[] = [];
    const ports = {
      store: Object.assign({}, store, { installSlots: async (all: SlotGroup[]) => void slots.push(all) }),
    };
    const definitions = registry([defineApp({ name: "test", jobs: [work], schedules })]);
    const report = await installDefinitions(ports, definitions, {
      stage: "test",
      ...(isAlone === undefined ? {} : { isAlone }),
    });
    return { ids: (await store.schedules()).map(({ id }) => id), statements: slots.length, report };
  }

  test("removes what its apps no longer have, and that of other apps only when it is alone", async () => {
    expect((await installed({})).ids).toEqual(["left", "s"]);
    expect((await installed({ isAlone: false })).ids).toEqual(["left", "s"]);
    expect((await installed({ isAlone: true })).ids).toEqual(["s"]);
    expect((await installed({ has: false })).ids).toEqual(["left"]);
    expect((await installed({ has: false, isAlone: true })).ids).toEqual([]);
  });

  test("writes slot groups only if there are some", async () => {
    expect(await installed({})).toMatchObject({ statements: 1, report: { schedules: 1, slotGroups: 1 } });
    expect(await installed({ has: false })).toMatchObject({ statements: 0, report: { schedules: 0, slotGroups: 0 } });
  });
});
