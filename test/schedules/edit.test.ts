import { describe, expect, test } from "vitest";
import { defineApp } from "../../src/core/definitions/define-app.ts";
import { defineJob } from "../../src/core/definitions/define-job.ts";
import type { ScheduleSpec } from "../../src/core/schedules/schedule.ts";
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
});
