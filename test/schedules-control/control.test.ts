import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  createSchedule,
  deleteSchedule,
  pauseSchedule,
  type ScheduleInput,
  triggerSchedule,
  updateSchedule,
} from "../../src/core/admin/schedule-control.ts";
import { defineApp } from "../../src/core/define/define-app.ts";
import { defineFanOut } from "../../src/core/define/define-fan-out.ts";
import { defineJob } from "../../src/core/define/define-job.ts";
import { defineSchedule } from "../../src/core/define/define-schedule.ts";
import { type Occurrence, registry } from "../../src/core/define/definition.ts";
import type { NewJob } from "../../src/core/job/job.ts";
import type { Store } from "../../src/core/ports/ports.ts";
import type { ScheduleRefusal } from "../../src/core/ports/schedule-store.ts";
import { ScheduleRefused } from "../../src/core/scheduler/schedule-refused.ts";
import { sum, world } from "../core/world.ts";

const stage = { stage: "test" };
const shown: Occurrence[] = [];
const mail = defineJob({ id: "mail", payload: z.object({ day: z.string() }), concurrency: 2, run: () => {} });
const work = defineJob({ id: "work", run: () => {} });
async function* none() {}
const spread = defineFanOut({ id: "spread", from: none, key: () => "k", each: work, payload: () => undefined });
const coded = defineSchedule({
  id: "coded",
  cron: "0 8 * * *",
  timezone: "Asia/Seoul",
  run: mail,
  payload(occurrence) {
    shown.push(occurrence);
    if (shown.length > 1) throw new Error("no such day");
    return { day: occurrence.day };
  },
});
const definitions = registry([
  defineApp({ name: "first", jobs: [work], schedules: [] }),
  defineApp({ name: "second", jobs: [mail, spread], schedules: [coded] }),
]);
const input: ScheduleInput = { id: "made", kind: "mail", every: "1h", payload: { day: "d" } };

/** The verbs over a store of which some answers are exchanged, and what was asked of it. */
function control(over: (store: Store) => Partial<Store> = () => ({})) {
  const calls: string[] = [];
  const inserted: NewJob[] = [];
  const options: unknown[] = [];
  const ports = world(({ store }) => ({
    store: Object.assign({}, store, {
      installSlots: async (...call: Parameters<Store["installSlots"]>) => {
        calls.push(...call[0].map(({ key }) => key));
        await store.installSlots(...call);
      },
      insert: async (...call: Parameters<Store["insert"]>) => (inserted.push(...call[0]), store.insert(...call)),
      updateSchedule: async (...call: Parameters<Store["updateSchedule"]>) => {
        options.push(call[1]);
        return store.updateSchedule(...call);
      },
      deleteSchedule: async (...call: Parameters<Store["deleteSchedule"]>) => {
        options.push(call[1]);
        return store.deleteSchedule(...call);
      },
      ...over(store),
    }),
  }));
  return { ports, calls, inserted, options };
}

const refusal = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ScheduleRefused)) throw new Error(`not refused: ${String(error)}`);
  return error;
};

describe("a schedule that a person makes", () => {
  test("has its period, the app of its kind, and the slots of both, before its row", async () => {
    const { ports, calls } = control();
    const both = { startAt: "2031-01-01T00:00:00Z", endAt: "2032-01-01T00:00:00Z" };
    const spec = async (id: string, over: Partial<ScheduleInput>) =>
      (await createSchedule(ports, definitions, { ...input, id, ...over }, stage)).spec;
    const [startAt, endAt] = [Date.UTC(2031, 0, 1), Date.UTC(2032, 0, 1)];
    expect(await spec("a", both)).toMatchObject({ app: "second", startAt, endAt });
    expect(await spec("b", { startAt: both.startAt })).toMatchObject({ startAt, endAt: null });
    expect(await spec("c", { endAt: both.endAt })).toMatchObject({ startAt: null, endAt });
    expect(await spec("d", { startAt: undefined, endAt: undefined })).toMatchObject({ startAt: null, endAt: null });
    expect(calls.slice(0, 2)).toEqual(["cap:mail", "catchup:a"]);
    expect(await spec("e", { kind: "work", payload: undefined, overlap: "skip" })).toMatchObject({ app: "first" });
    expect(calls.slice(-2)).toEqual(["overlap:e", "catchup:e"]);
  });

  test("is refused for one problem as for many, with nothing written", async () => {
    const { ports, calls } = control();
    const one = await refusal(createSchedule(ports, definitions, { ...input, every: "soon" }, stage));
    expect([one.code, one.problems.map(({ field }) => field)]).toEqual(["invalid-schedule", ["every"]]);
    const two = await refusal(createSchedule(ports, definitions, { ...input, every: "soon", id: "?" }, stage));
    expect(two.problems).toHaveLength(2);
    expect(await ports.store.schedules()).toEqual([]);
    expect(calls).toEqual([]);
  });

  test("is refused for an id of code before the store is asked", async () => {
    const { ports, calls } = control();
    const own = { ...input, id: "coded" };
    for (const asked of [
      createSchedule(ports, definitions, own, stage),
      updateSchedule(ports, definitions, own, stage),
      deleteSchedule(ports, definitions, "coded"),
    ])
      expect((await refusal(asked)).code).toBe("schedule-in-code");
    expect(calls).toEqual([]);
  });
});

test("the versions that must stand are given to the store only where there are some", async () => {
  const { ports, options } = control();
  await createSchedule(ports, definitions, input, stage);
  await updateSchedule(ports, definitions, { ...input, every: "2h" }, stage);
  await updateSchedule(ports, definitions, { ...input, every: "3h" }, { ...stage, ifVersions: [2] });
  const refused = await refusal(deleteSchedule(ports, definitions, "made", { ifVersions: [2] }));
  expect([refused.code, refused.version]).toEqual(["version-changed", 3]);
  await deleteSchedule(ports, definitions, "made");
  expect(options).toStrictEqual([{}, { ifVersions: [2] }, { ofCode: true, ifVersions: [2] }, { ofCode: true }]);
});

test.each([
  ["code", "schedule-in-code", 'schedule "made" is defined in code'],
  ["unknown", "unknown-schedule", 'there is no schedule "made"'],
  ["version", "version-changed", 'schedule "made" is at version 7, not at the one'],
  ["exists", "schedule-exists", 'schedule "made" exists already'],
] as const)("what the store refuses as %s is %s", async (refused, code, message) => {
  const answer = async () => ({ refused, version: 7 }) as ScheduleRefusal;
  const { ports } = control(() => ({ createSchedule: answer, pauseSchedule: answer, deleteSchedule: answer }));
  for (const asked of [
    () => createSchedule(ports, definitions, input, stage),
    () => pauseSchedule(ports, "made", null),
    () => deleteSchedule(ports, definitions, "made"),
  ]) {
    const error = await refusal(asked());
    expect([error.code, error.version]).toEqual([code, refused === "version" ? 7 : null]);
    expect(error.message).toContain(message);
  }
});

describe("a trigger", () => {
  test("is one job now, without a key or with the caller's, that is no catch-up and missed nothing", async () => {
    shown.length = 0;
    const { ports, inserted, calls } = control();
    await ports.store.installSchedules([coded.spec("test", "second")]);
    const { id, created } = await triggerSchedule(ports, definitions, "coded", stage);
    expect([created, (await ports.store.job(id))?.job.state]).toEqual([true, "QUEUED"]);
    // 07:08:09 UTC is in the afternoon of that day in Seoul.
    const seen = { scheduleId: "coded", timezone: "Asia/Seoul", day: "2031-05-06", isCatchUp: false, missedCount: 0 };
    expect(shown).toEqual([{ ...seen, scheduledFor: new Date(Date.UTC(2031, 4, 6, 7, 8, 9)) }]);
    expect(inserted).toMatchObject([{ key: null, dueAt: null, expiresAt: null, slotKeys: ["cap:mail"] }]);
    expect(calls).toEqual(["cap:mail", "catchup:coded"]);
    const failed = await refusal(triggerSchedule(ports, definitions, "coded", stage));
    expect([failed.code, failed.message]).toEqual([
      "invalid-schedule",
      'schedule "coded" gives no payload now: no such day',
    ]);
    expect(sum(ports.measured, "aftermath.failed")).toBe(0);
  });

  test("makes no job whose slots could not be made: it would wait for ever", async () => {
    let isAway = false;
    const { ports, inserted } = control((store) => ({
      installSlots: (groups) => (isAway ? Promise.reject(new Error("away")) : store.installSlots(groups)),
    }));
    await createSchedule(ports, definitions, input, stage);
    isAway = true;
    await expect(triggerSchedule(ports, definitions, "made", stage)).rejects.toThrow("away");
    expect(inserted).toEqual([]);
  });

  test("under a key is made once; of a fan-out it has the moment", async () => {
    const { ports, inserted } = control();
    await createSchedule(ports, definitions, { id: "made", kind: "spread", every: "1h" }, stage);
    const asked = () => triggerSchedule(ports, definitions, "made", { ...stage, key: "k" });
    const [first, second] = [await asked(), await asked()];
    expect([first.created, second]).toEqual([true, { id: first.id, created: false }]);
    expect(inserted[0]).toMatchObject({
      key: "k",
      payload: { moment: { day: "2031-05-06", isCatchUp: false, missedCount: 0 } },
    });
  });

  test("of a schedule that is not there or was deleted is refused, and an answer that is missing is an error", async () => {
    const { ports } = control();
    expect((await refusal(triggerSchedule(ports, definitions, "none", stage))).code).toBe("unknown-schedule");
    await createSchedule(ports, definitions, input, stage);
    await deleteSchedule(ports, definitions, "made");
    expect((await refusal(triggerSchedule(ports, definitions, "made", stage))).code).toBe("unknown-schedule");
    const { ports: silent } = control((store) => ({
      insert: async (...call) => ({ ...(await store.insert(...call)), results: [] }),
    }));
    await createSchedule(silent, definitions, input, stage);
    await expect(triggerSchedule(silent, definitions, "made", stage)).rejects.toThrow(
      'triggering "made" gave no answer',
    );
  });
});
