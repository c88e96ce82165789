import { describe, expect, test } from "vitest";
import { defineApp } from "../../src/core/define/define-app.ts";
import { defineJob } from "../../src/core/define/define-job.ts";
import type { ScheduleSpec } from "../../src/core/ports/schedule.ts";
import { aSpec, hour, minute } from "./spec.ts";
import { referenceGround, world } from "./world.ts";

const apps = [defineApp({ name: "test", jobs: [defineJob({ id: "work", run: () => {} })] })];
const slots = [{ key: "catchup:s", size: 1, onRefusal: "hold", reason: "slot" }] as const;

async function started(spec: ScheduleSpec, start: number) {
  const at = world(apps, referenceGround(start));
  await at.store.installSlots(slots);
  await at.store.installSchedules([spec]);
  return at;
}

describe("an edit", () => {
  test("of the zone, after today's time has fired, fires the same reading once more where the new clock shows it", async () => {
    const spec = aSpec({ expression: { form: "cron", cron: "0 8 * * *" }, timezone: "America/New_York" });
    const at = await started(spec, Date.UTC(2026, 10, 21, 12, 58));
    await at.tick();
    await at.advance(3 * minute);
    await at.work();
    await at.store.installSchedules([{ ...spec, timezone: "America/Los_Angeles" }]);
    await at.advance(3 * hour - 3 * minute);
    await at.tick();
    await at.advance(3 * minute);
    await at.work();
    expect((await at.ledger("s")).map((row) => [row.localTime, row.timezone, row.outcome])).toEqual([
      ["2026-11-21T08:00", "America/New_York", "FIRED"],
      ["2026-11-21T08:00", "America/Los_Angeles", "FIRED"],
    ]);
    expect(at.ran).toHaveLength(2);
  });

  test("keeps the pace of the catch-up: outages and edits in a row never put two jobs closer together", async () => {
    const paceMs = 3 * minute;
    const spec = aSpec({ misfire: { rule: "all", maxAgeMs: null, maxCount: null, paceMs } });
    const at = await started(spec, Date.UTC(2026, 10, 21));
    for (const overlap of ["skip", "allow", "skip"] as const) {
      await at.advance(20 * minute);
      await at.tick();
      await at.store.installSchedules([{ ...spec, overlap }]);
    }
    await at.advance(20 * minute);
    await at.tick();
    const caughtUp = at.store.tables.inStates("QUEUED", "PENDING").filter((row) => row.catchUp);
    const due = caughtUp.map((row) => row.dueAt).toSorted((a, b) => a - b);
    expect(due.length).toBeGreaterThan(50);
    expect(due.filter((each, index) => index > 0 && each - (due[index - 1] ?? 0) < paceMs)).toEqual([]);
  });

  test("during an outage leaves the times before it to the version before it, with that one's policy and zone", async () => {
    const all = { rule: "all", maxAgeMs: null, maxCount: null, paceMs: 1_000 } as const;
    const latest = { ...all, rule: "latest" } as const;
    const cron = (text: string) => ({ form: "cron", cron: text }) as const;
    const first = aSpec({ expression: cron("*/10 * * * *"), misfire: all });
    const at = await started(first, Date.UTC(2026, 10, 21));
    await at.advance(35 * minute);
    await at.store.installSchedules([{ ...first, expression: cron("*/15 * * * *"), misfire: latest }]);
    await at.advance(30 * minute);
    await at.store.installSchedules([{ ...first, expression: cron("5 * * * *"), timezone: "Asia/Kolkata" }]);
    await at.advance(40 * minute);
    await at.tick();
    expect((await at.ledger("s")).map((row) => [row.version, row.localTime.slice(11), row.outcome])).toEqual([
      [1, "00:10", "PLANNED"],
      [1, "00:20", "PLANNED"],
      [1, "00:30", "PLANNED"],
      [2, "00:45", "COALESCED"],
      [2, "01:00", "PLANNED"],
      [3, "07:05", "PLANNED"],
    ]);
    expect((await at.store.schedules())[0]?.carry?.edited).toBeUndefined();
    await at.advance(10_000);
    await at.work();
    expect(at.ran).toHaveLength(5);
  });

  test("that switches it off during an outage, and on again, loses no time of before and makes none of between", async () => {
    const spec = aSpec({ expression: { form: "cron", cron: "*/10 * * * *" } });
    const at = await started(spec, Date.UTC(2026, 10, 21));
    await at.advance(25 * minute);
    await at.store.installSchedules([{ ...spec, enabled: false }]);
    await at.advance(20 * minute);
    await at.store.installSchedules([spec]);
    await at.advance(18 * minute);
    await at.tick();
    const rows = (await at.ledger("s")).map((row) => [row.version, row.localTime.slice(11), row.outcome]);
    expect(rows).toEqual([
      [1, "00:10", "COALESCED"],
      [1, "00:20", "PLANNED"],
      [3, "00:50", "COALESCED"],
      [3, "01:00", "PLANNED"],
    ]);
  });

  test("that switches it off during an outage accounts for the times of before, which are skipped as off", async () => {
    const spec = aSpec({ expression: { form: "cron", cron: "*/10 * * * *" } });
    const at = await started(spec, Date.UTC(2026, 10, 21));
    await at.advance(25 * minute);
    await at.store.installSchedules([{ ...spec, enabled: false }]);
    await at.advance(20 * minute);
    await at.tick();
    await at.work();
    expect((await at.ledger("s")).map((row) => [row.version, row.outcome, row.reason])).toEqual([
      [1, "COALESCED", "into 2026-11-21T00:20"],
      [1, "SKIPPED", "disabled"],
    ]);
    expect((await at.store.dueSchedules({ horizonMs: 0, limit: 10 })).schedules).toEqual([]);
  });

  test("during an outage and then a deletion: the times of both versions are accounted for, and none of them runs", async () => {
    const spec = aSpec({ expression: { form: "cron", cron: "*/10 * * * *" } });
    const at = await started({ ...spec, misfire: { ...spec.misfire, rule: "all" } }, Date.UTC(2026, 10, 21));
    await at.advance(25 * minute);
    await at.store.installSchedules([{ ...spec, misfire: { ...spec.misfire, rule: "skip" } }]);
    await at.advance(20 * minute);
    await at.store.installSchedules([], { apps: ["test"] });
    await at.advance(20 * minute);
    await at.tick();
    await at.work();
    expect((await at.ledger("s")).map((row) => [row.version, row.localTime.slice(11), row.reason])).toEqual([
      [1, "00:10", "deleted"],
      [1, "00:20", "deleted"],
      [2, "00:30", "misfire"],
      [2, "00:40", "misfire"],
    ]);
    expect(await at.store.endRemovals()).toBe(0);
    expect(at.store.tables.schedules.get("s")).toBeUndefined();
    expect(at.ran).toEqual([]);
  });

  test("that deletes it and one that makes it again, both in an outage: nothing between, and nothing missed is told", async () => {
    const spec = aSpec({ expression: { form: "cron", cron: "*/10 * * * *" } });
    const at = await started(spec, Date.UTC(2026, 10, 21));
    await at.advance(25 * minute);
    await at.store.installSchedules([], { apps: ["test"] });
    await at.advance(30 * minute);
    await at.store.installSchedules([spec]);
    await at.advance(6 * minute);
    await at.tick();
    expect(
      (await at.ledger("s")).map((row) => [row.version, row.localTime.slice(11), row.outcome, row.reason]),
    ).toEqual([
      [1, "00:10", "COALESCED", "into 2026-11-21T00:20"],
      [1, "00:20", "SKIPPED", "deleted"],
      [3, "01:00", "PLANNED", null],
    ]);
    expect(at.store.tables.inStates("QUEUED", "PENDING").map((row) => row.missed)).toEqual([0]);
  });

  test("that drops it together with its job still accounts for the times of before", async () => {
    const spec = aSpec({ expression: { form: "cron", cron: "*/10 * * * *" } });
    const at = await started({ ...spec, job: { ...spec.job, kind: "gone" } }, Date.UTC(2026, 10, 21));
    await at.advance(15 * minute);
    await at.store.installSchedules([], { apps: ["test"] });
    expect(await at.tick()).toMatchObject({ undecided: 0 });
    expect((await at.ledger("s")).map((row) => [row.localTime.slice(11), row.reason])).toEqual([["00:10", "deleted"]]);
  });

  test("to another job, when nobody defines the old one any more, still accounts for the times of before", async () => {
    const spec = aSpec({ expression: { form: "cron", cron: "*/10 * * * *" } });
    const at = await started({ ...spec, job: { ...spec.job, kind: "gone" } }, Date.UTC(2026, 10, 21));
    await at.advance(25 * minute);
    await at.store.installSchedules([spec]);
    await at.advance(5 * minute);
    await at.tick();
    expect((await at.ledger("s")).map((row) => [row.version, row.outcome, row.reason])).toEqual([
      [1, "COALESCED", "into 2026-11-21T00:20"],
      [1, "SKIPPED", "no-job"],
      [2, "PLANNED", null],
    ]);
  });
});
