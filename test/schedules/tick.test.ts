import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineApp } from "../../src/define/define-app.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { defineSchedule, type ScheduleOptions } from "../../src/define/define-schedule.ts";
import type { ScheduleDefinition } from "../../src/define/definition.ts";
import { passLimits } from "../../src/schedule/pass-limits.ts";
import { FenceLost } from "../../src/machine/fence.ts";
import type { ScheduleSpec } from "../../src/machine/schedule.ts";
import { aSpec, hour, midnight, minute } from "./spec.ts";
import { referenceGround, world } from "./world.ts";

const work = defineJob({ id: "work", run: () => {} });
const mail = defineJob({
  id: "mail",
  payload: z.object({ day: z.string(), tries: z.number().default(3) }),
  concurrency: 2,
  run: () => {},
});
const minutely = (id: string, over: Partial<ScheduleOptions<void>> = {}) =>
  defineSchedule({ id, cron: "* * * * *", timezone: "UTC", run: work, ...over } as never);
const app = (...schedules: ScheduleDefinition[]) => defineApp({ name: "test", jobs: [work, mail], schedules });

/** A world with one app, its definitions installed at midnight. */
async function started(...schedules: ScheduleDefinition[]) {
  const at = world([app(...schedules)], referenceGround(midnight));
  await at.install();
  return at;
}

describe("a tick", () => {
  test("plans every time up to the dispatch window with a job each, and hands off what is due within it", async () => {
    const at = await started(minutely("every-minute"));
    expect(await at.tick()).toEqual({ schedules: 1, occurrences: 5, missed: 0, "payload.failed": 0, undecided: 0 });
    expect((await at.ledger("every-minute")).map((row) => [row.localTime, row.outcome])).toEqual(
      [1, 2, 3, 4, 5].map((k) => [`2026-11-21T00:0${k}`, "PLANNED"]),
    );
    expect(at.sent.map((message) => message.delayMs / minute)).toEqual([1, 2, 3, 4, 5]);
    expect(await at.tick()).toMatchObject({ schedules: 0, occurrences: 0 });
  });

  test("gives the job its checked payload, its definition's slots and its schedule's", async () => {
    const daily = defineSchedule({
      id: "daily",
      cron: "3 9 * * *",
      timezone: "Asia/Seoul",
      run: mail,
      payload: (occurrence) => ({ day: occurrence.day }),
      overlap: "skip",
    });
    const at = await started(daily);
    await at.tick();
    const [row] = at.store.tables.inStates("QUEUED");
    expect(row).toMatchObject({
      payload: { day: "2026-11-21" },
      slotKeys: ["cap:mail", "overlap:daily"],
      key: null,
      scheduleId: "daily",
      scheduledFor: midnight + 3 * minute,
      dueAt: midnight + 3 * minute,
    });
    expect([...at.store.tables.groups.values()].map((group) => group.key).toSorted()).toEqual([
      "cap:mail",
      "catchup:daily",
      "overlap:daily",
    ]);
  });

  test("catches up in the slot of the on-time jobs too, behind one of its own", async () => {
    const at = await started(minutely("s", { overlap: "skip" }));
    await at.advance(hour);
    await at.tick();
    const slots = at.store.tables.inStates("QUEUED", "PENDING").map((row) => [row.catchUp, row.slotKeys]);
    expect(slots[0]).toEqual([true, ["catchup:s", "overlap:s"]]);
    expect(slots[1]).toEqual([false, ["overlap:s"]]);
  });

  test("an outage of more times than a page holds gives one job under latest, and it knows the count", async () => {
    const at = await started(defineSchedule({ id: "s", every: "1s", run: work }));
    await at.advance(hour);
    const counts = await at.tick();
    expect(counts).toMatchObject({ schedules: 1, occurrences: 3_900, missed: 3_600 });
    const rows = await at.work();
    expect(rows.map((row) => [row.isCatchUp, row.missedCount])).toEqual([[true, 3_599]]);
    const outcomes = Object.groupBy(await at.ledger("s"), (row) => row.outcome);
    expect(outcomes).toMatchObject({
      COALESCED: { length: 3_599 },
      CAUGHT_UP: { length: 1 },
      PLANNED: { length: 300 },
    });
  });

  test("a payload function that throws leaves its time SKIPPED payload and does not stop the others", async () => {
    const broken = defineSchedule({
      id: "a",
      cron: "* * * * *",
      timezone: "UTC",
      run: mail,
      payload: () => {
        throw new Error("no such day");
      },
    });
    const wrong = defineSchedule({
      id: "b",
      cron: "* * * * *",
      timezone: "UTC",
      run: mail,
      payload: () => ({ day: 7 }) as never,
    });
    const at = await started(broken, wrong, minutely("c"));
    expect(await at.tick()).toMatchObject({ schedules: 3, occurrences: 15, "payload.failed": 10 });
    const [first] = await at.ledger("a");
    expect(first).toMatchObject({ outcome: "SKIPPED", reason: "payload", jobId: null });
    expect((await at.ledger("c")).every((row) => row.outcome === "PLANNED")).toBe(true);
    expect(at.lines.map((line) => [line.fields["schedule"], line.fields["problem"], line.fields["times"]])).toEqual([
      ["a", "no such day", 5],
      ["b", expect.stringContaining("day: "), 5],
    ]);
    expect(at.metrics).toContainEqual({ name: "scheduler.payload.failed", value: 5, dimensions: { job: "mail" } });
  });
});

describe("a schedule that cannot be decided here is left as it is, and said once", () => {
  const daily = (timezone: string) => ({ expression: { form: "cron", cron: "0 0 * * *" } as const, timezone });

  async function withStored(spec: Partial<ScheduleSpec>) {
    const at = await started(minutely("fine"));
    await at.store.installSchedules([aSpec({ id: "odd", app: "other", ...spec })]);
    return at;
  }

  test.each([
    [{ job: { ...aSpec().job, kind: "unknown" } }, 'its job "unknown" is not defined in this process'],
    [{ ...daily("Asia/Seoul"), tzVersion: "2999z" }, "its times were computed with tz data 2999z"],
    [{ expression: { form: "cron", cron: "61 * * * *" } as const }, 'minute "61"'],
    [daily("Mars/Phobos"), 'timezone "Mars/Phobos"'],
  ])("%o", async (spec, problem) => {
    const at = await withStored(spec);
    expect(await at.tick()).toMatchObject({ schedules: 1, undecided: 1 });
    expect(await at.tick()).toMatchObject({ schedules: 0, undecided: 1 });
    expect(await at.ledger("odd")).toEqual([]);
    expect(at.store.tables.schedules.row("odd")).toMatchObject({ decidedUntil: midnight });
    expect(at.lines.map((line) => line.fields["problem"])).toEqual([expect.stringContaining(problem)]);
  });

  test("newer tz data keeps no process from what needs none", async () => {
    const at = await withStored({ tzVersion: "2999z" });
    expect(await at.tick()).toMatchObject({ schedules: 2, undecided: 0 });
  });

  test("however many there are, the others are still planned", async () => {
    const at = world([app(minutely("z"))], referenceGround(midnight));
    await at.store.installSchedules(
      Array.from({ length: 600 }, (_, k) =>
        aSpec({ ...daily("Asia/Seoul"), id: `a${k}`, app: "other", tzVersion: "2999z" }),
      ),
    );
    await at.install();
    expect(await at.tick()).toMatchObject({ schedules: 1, occurrences: 5, undecided: 600 });
  });
});

describe("many ticks at once, and ticks that die", () => {
  test("a tick that dies after its commit leaves outbox batches open and nothing to plan again", async () => {
    const at = await started(minutely("a"));
    at.crash("tick.afterCommit");
    await expect(at.tick()).rejects.toThrow("crashed at tick.afterCommit");
    at.crash(null);
    expect(await at.tick()).toMatchObject({ occurrences: 0 });
    expect(at.sent).toEqual([]);
    expect([...at.store.tables.outbox.values()]).toHaveLength(1);
    expect(await at.ledger("a")).toHaveLength(5);
  });

  test("plans the full dispatch window also behind more schedules with a rule of their own than a round holds", async () => {
    const ruled = Array.from({ length: passLimits.tickSchedulesMax + 100 }, (_, n) =>
      minutely(`a-${n}`, { launch: "rule" }),
    );
    const at = await started(...ruled, minutely("z"));
    // A new row learns when its first time would be missed; later ticks leave it alone.
    expect(await at.tick()).toMatchObject({ schedules: 601, occurrences: 5, undecided: 0 });
    expect(await at.tick()).toMatchObject({ schedules: 0, occurrences: 0 });
    // What their tasks have not done a while after the time is made up for.
    await at.advance(3 * minute);
    expect(await at.tick()).toMatchObject({ schedules: 601, occurrences: 603 });
    expect((await at.ledger("z")).at(-1)).toMatchObject({ localTime: "2026-11-21T00:08" });
  });

  test("a tick that dies between pages of an outage has decided nothing that the next one changes", async () => {
    const at = await started(defineSchedule({ id: "s", every: "1s", run: work }));
    await at.advance(30 * minute);
    at.crash("tick.afterCommit");
    for (let page = 0; page < 2; page++) await expect(at.tick()).rejects.toThrow("crashed");
    at.crash(null);
    await at.tick();
    expect(at.store.tables.inStates("QUEUED").filter((row) => row.catchUp)).toMatchObject([{ missed: 1_799 }]);
    expect(await at.ledger("s")).toHaveLength(2_100);
  });

  test("an older fence plans nothing", async () => {
    const at = await started(minutely("a"));
    await at.store.installFence({ name: "pass", token: 2 });
    await expect(at.tick({ fence: { name: "pass", token: 1 } })).rejects.toThrow(FenceLost);
    expect(await at.ledger("a")).toEqual([]);
  });

  test("a tick that has to stop plans nothing more", async () => {
    const at = await started(minutely("a"));
    expect(await at.tick({ signal: AbortSignal.abort() })).toMatchObject({ schedules: 0, occurrences: 0 });
  });
});
