import { describe, expect, test } from "vitest";
import { defineApp } from "../../src/define/define-app.ts";
import { defineJob } from "../../src/define/define-job.ts";
import type { ScheduleSpec } from "../../src/machine/schedule.ts";
import { aSpec, hour, midnight, minute } from "./spec.ts";
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
    const at = await started(spec, midnight + 13 * hour - 2 * minute);
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
});

const every = (minutes: string) => ({ form: "cron", cron: minutes }) as const;
const ten = aSpec({ expression: every("*/10 * * * *") });
const all = { ...ten.misfire, rule: "all" } as const;
const gone = { ...ten, job: { ...ten.job, kind: "gone" } };

/** Minutes that pass without a scheduler, edits of the schedule between them, and null for its deletion. */
type Steps = readonly (number | ScheduleSpec | null)[];

describe("an outage with edits in it leaves the times of each version to that version:", () => {
  test.each<[string, ScheduleSpec, Steps, readonly string[], readonly number[]]>([
    [
      "its policy and zone",
      { ...ten, misfire: all },
      [
        35,
        { ...ten, expression: every("*/15 * * * *") },
        30,
        { ...ten, expression: every("5 * * * *"), timezone: "Asia/Kolkata" },
        40,
      ],
      [
        "1 00:10 PLANNED",
        "1 00:20 PLANNED",
        "1 00:30 PLANNED",
        "2 00:45 COALESCED",
        "2 01:00 PLANNED",
        "3 07:05 PLANNED",
      ],
      [1, 0, 0, 0, 0],
    ],
    [
      "switched off and on again, it makes no time of between",
      ten,
      [25, { ...ten, enabled: false }, 20, ten, 18],
      ["1 00:10 COALESCED", "1 00:20 PLANNED", "3 00:50 COALESCED", "3 01:00 PLANNED"],
      [1, 1],
    ],
    [
      "switched off, the times of before are skipped as off",
      ten,
      [25, { ...ten, enabled: false }, 20],
      ["1 00:10 COALESCED", "1 00:20 PLANNED disabled"],
      [],
    ],
    [
      "deleted, the times of both versions are accounted for, and none of them runs",
      { ...ten, misfire: all },
      [25, { ...ten, misfire: { ...all, rule: "skip" } }, 20, null, 20],
      ["1 00:10 SKIPPED deleted", "1 00:20 SKIPPED deleted", "2 00:30 SKIPPED misfire", "2 00:40 SKIPPED misfire"],
      [],
    ],
    [
      "deleted and made again, it makes nothing between, and counts nothing missed",
      ten,
      [25, null, 30, ten, 6],
      ["1 00:10 COALESCED", "1 00:20 SKIPPED deleted", "3 01:00 PLANNED"],
      [0],
    ],
    ["dropped together with its job", gone, [15, null], ["1 00:10 SKIPPED deleted"], []],
    [
      "given another job, when the old one is not defined any more",
      gone,
      [25, ten, 5],
      ["1 00:10 COALESCED", "1 00:20 SKIPPED no-job", "2 00:30 PLANNED"],
      [0],
    ],
  ])("%s", async (_, spec, steps, expected, missed) => {
    const at = await started(spec, midnight);
    for (const step of steps) {
      if (typeof step === "number") await at.advance(step * minute);
      else if (step === null) await at.store.installSchedules([], { apps: ["test"] });
      else await at.store.installSchedules([step]);
    }
    expect(await at.tick()).toMatchObject({ undecided: 0 });
    const planned = await at.ledger("s");
    await at.advance(10_000);
    const ran = (await at.work()).filter(({ state }) => state === "RUNNING");
    const reasons = new Map((await at.ledger("s")).map((row) => [row.nominalAt, row.reason]));
    const shown = planned.map(({ version, localTime, outcome, nominalAt }) => {
      const reason = outcome === "COALESCED" ? null : reasons.get(nominalAt);
      return [version, localTime.slice(11), outcome, reason].filter((part) => part != null).join(" ");
    });
    expect([shown, ran.map(({ missedCount }) => missedCount)]).toEqual([expected, missed]);
    await at.store.endRemovals();
    expect(at.store.tables.schedules.get("s") !== undefined).toBe(
      steps.findLast((step) => typeof step !== "number") !== null,
    );
  });
});
