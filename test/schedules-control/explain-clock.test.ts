import { expect, test } from "vitest";
import { defineSchedule } from "../../src/core/define/define-schedule.ts";
import { hour, minute, stage, work } from "./stage.ts";

/** New York shows 01:00 to 01:59 twice: from 05:00Z, and again from 06:00Z. */
const overlapDay = Date.UTC(2026, 10, 1);
const halves = (over: object = {}) =>
  defineSchedule({ id: "halves", cron: "*/30 * * * *", timezone: "America/New_York", run: work, ...over });

test("an instant in a reading that came twice has one answer, the pass it lies in", async () => {
  const at = await stage([halves()], overlapDay + 4 * hour);
  await at.liveUntil(overlapDay + 7 * hour);
  expect(await at.explain("halves", "2026-11-01T01:30")).toHaveLength(2);
  expect(await at.why("halves", "2026-11-01T05:30Z")).toMatchObject({
    sentence: expect.stringMatching(/^2026-11-01 01:30 ran/),
  });
  expect(await at.why("halves", "2026-11-01T06:30Z")).toMatchObject({
    sentence: expect.stringMatching(/^2026-11-01 01:30 \(the second time\) ran/),
  });
});

test("what was merged into the second pass of a reading tells of that one, and not of the first", async () => {
  const at = await stage([halves()], overlapDay + 4 * hour + minute);
  await at.advance(2 * hour + 34 * minute);
  await at.tick();
  await at.work();
  const into = await at.explain("halves", "2026-11-01T01:30");
  expect(into.map(({ verdict }) => verdict)).toEqual(["coalesced", "ran"]);
  expect(into[0]?.sentence).toContain("`latest` makes one job of all it missed; that one is CAUGHT_UP (job ");
});

test("a period that is no whole second has times that can be asked for", async () => {
  const quick = defineSchedule({ id: "quick", every: "1500ms", run: work });
  const at = await stage([quick], overlapDay);
  await at.tick();
  expect(await at.why("quick", "2026-11-01T00:00:01.500Z")).toMatchObject({ verdict: "planned" });
});
