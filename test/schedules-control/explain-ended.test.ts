import { expect, test } from "vitest";
import { defineSchedule } from "../../src/define/define-schedule.ts";
import { replaceEarlier } from "../../src/run/replace.ts";
import { aRun, aTask } from "../contract/store/run-fixture.ts";
import { midnight, minute, stage, work, hour } from "./stage.ts";

/** Every five minutes by the clock of Seoul, which shows 09:00 at midnight UTC. */
const often = (over: object = {}) =>
  defineSchedule({ id: "often", cron: "*/5 * * * *", timezone: "Asia/Seoul", run: work, ...over });
const nine = midnight;

test("the run of the time before was still going, although the job that started it had ended", async () => {
  const at = await stage([often({ overlap: "skip" })], nine - minute);
  await at.tick();
  await at.advance(6 * minute);
  await at.tick();
  const starter = await at.begin("often", nine);
  await at.store.transaction(async (tx) => {
    const run = aRun({ tasks: [aTask("load")], starterId: starter.jobId });
    await at.store.startRun(run, { tx });
    await at.end(starter, {}, tx);
  });
  await at.advance(minute);
  expect(await at.begin("often", nine + 5 * minute)).toMatchObject({ state: "SKIPPED", reason: "overlap" });
  expect(await at.why("often", "09:05")).toMatchObject({
    verdict: "skipped-overlap",
    sentence: "2026-11-21 09:05 was skipped: the run of 09:00 (run 1) was still going, and overlap says so",
    advice: expect.stringContaining("shorten the run"),
  });
});

test("a time whose own task is still starting is not called forgotten", async () => {
  const at = await stage([often({ launch: "rule" })], nine - minute);
  await at.advance(minute + 30_000);
  await at.tick();
  expect(await at.why("often", "09:00")).toMatchObject({
    verdict: "undecided",
    sentence: expect.stringContaining("2026-11-21 09:00 is past and undecided"),
    advice: "its rule starts a task for it, which takes a minute; 90 s after the time the scheduler makes up for it",
  });
  await at.advance(2 * minute);
  expect((await at.why("often", "09:00")).advice).toContain("look at the wake rule");
});

test("a retry that met the job of a later time was ended by the overlap rule, and that is said", async () => {
  const at = await stage([often({ overlap: "skip" })], nine - minute);
  await at.tick();
  await at.advance(minute);
  const failed = await at.begin("often", nine);
  await at.end(failed, {
    to: "RETRY_WAIT",
    delayMs: 6 * minute,
    failures: 1,
    errorCode: "DOWN",
    errorMessage: "no answer",
  });
  await at.advance(5 * minute);
  await at.tick();
  await at.begin("often", nine + 5 * minute);
  await at.advance(minute);
  await at.store.relay({ limit: 10 });
  expect(await at.begin("often", nine)).toMatchObject({ state: "SKIPPED", reason: "overlap" });
  expect(await at.why("often", "09:00")).toMatchObject({
    verdict: "canceled",
    sentence: `2026-11-21 09:00 started on time and was then ended after DOWN: no answer: job ${failed.jobId} is SKIPPED, because its next attempt met a later job of the schedule that was still going`,
    advice: `to run it: npx belfry jobs retry ${failed.jobId}`,
  });
});

test("a time before a deletion that was not decided, before a pass has recorded it and after", async () => {
  const at = await stage([often()], nine);
  await at.advance(6 * minute);
  await at.store.installSchedules([], { apps: ["test"] });
  expect(await at.why("often", "09:05")).toMatchObject({
    verdict: "deleted",
    sentence: expect.stringContaining("deleted at 2026-11-21T00:06:00.000Z, before this time was decided"),
  });
  await at.tick();
  expect(await at.why("often", "09:05")).toMatchObject({
    verdict: "skipped-deleted",
    sentence: "2026-11-21 09:05 was skipped: the schedule was deleted before its job would have started",
  });
});

/** New York shows 01:00 to 01:59 twice: from 05:00Z, and again from 06:00Z. */
const overlapDay = Date.UTC(2026, 10, 1);
const halves = () => defineSchedule({ id: "halves", cron: "*/30 * * * *", timezone: "America/New_York", run: work });

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

test("what was merged into the second pass of a reading names that one, and not of the first", async () => {
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

test("under cancel-running the ledger and explain say of both times what happened, and of one between", async () => {
  const at = await stage([often({ overlap: "cancel-running" })], nine - minute);
  await at.tick();
  await at.advance(minute);
  const old = await at.begin("often", nine);
  for (const minutes of [5, 6]) {
    await at.advance(minutes * minute);
    await at.tick();
  }
  expect(await at.begin("often", nine + 10 * minute)).toMatchObject({ state: "PENDING" });
  const askedAt = await at.store.now();
  expect(await replaceEarlier(at.ports, at.definitions, "all")).toEqual({ "jobs.replaced": 2 });
  const waits = (time: string) => ({
    verdict: "waiting-for-slot",
    sentence: `2026-11-21 ${time} waits until the job of 09:00 (job ${old.jobId}) has stopped; asked at ${new Date(askedAt + 9 * hour).toISOString().slice(11, 23)}`,
  });
  expect(await at.why("often", "09:10")).toMatchObject(waits("09:10"));
  expect(await at.why("often", "09:05")).toMatchObject({ verdict: "skipped-replaced" });
  await at.advance(5 * minute);
  await at.tick();
  await at.begin("often", nine + 15 * minute);
  expect(await at.why("often", "09:15")).toMatchObject(waits("09:15"));
  expect(await at.why("often", "09:00")).toMatchObject({
    verdict: "canceled",
    sentence: expect.stringContaining(
      "a later time of its schedule replaced it (schedule often, its time 2026-11-21T00:10:00.000Z)",
    ),
  });
});
