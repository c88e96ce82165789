import { describe, expect, test } from "vitest";
import { defineSchedule } from "../../src/define/define-schedule.ts";
import { triggerSchedule } from "../../src/insight/schedule-control.ts";
import { aRow } from "../core/rows.ts";
import { capped, hour, locked, midnight, minute, stage, type Stage, work } from "./stage.ts";

/** Every five minutes by the clock of Seoul, which shows 09:00 at midnight UTC. */
const often = (over: object = {}) =>
  defineSchedule({ id: "often", cron: "*/5 * * * *", timezone: "Asia/Seoul", run: work, ...over });
const nine = midnight;

type Live = (at: Stage) => Promise<unknown>;
const paused = { by: "ada", reason: null, until: null };
const skipped = "2026-11-21 09:05 was skipped:";
const off = { ...often().spec("test", "test"), enabled: false };
const missed: Live = async (at) => [await at.advance(hour), await at.tick(), await at.work()];

describe("why did 09:05 not run? Planted causes and what explain answers", () => {
  test.each<[cause: string, answer: string, over: object, from: number, live: Live]>([
    [
      "a pause",
      `skipped-paused: ${skipped} the schedule was paused when its job would have started`,
      {},
      1,
      async (at) => [
        await at.tick(),
        await at.store.pauseSchedule("often", paused),
        await at.liveUntil(nine + 6 * minute),
      ],
    ],
    [
      "the schedule is off in this stage",
      "disabled: 2026-11-21 09:05 did not run: the schedule was off in this stage (enabled: false, version 1)",
      { enabled: { prod: true } },
      0,
      (at) => at.liveUntil(nine + 6 * minute),
    ],
    [
      "it was switched off when its job was due and had not started",
      `skipped-disabled: ${skipped} the schedule was off in this stage when its job would have started`,
      {},
      1,
      async (at) => [
        await at.liveUntil(nine + 5 * minute, false),
        await at.store.installSchedules([off]),
        await at.liveUntil(nine + 6 * minute),
      ],
    ],
    [
      "an outage, under misfire skip",
      `skipped-misfire: ${skipped} a scheduler was away for longer than two minutes`,
      { misfire: "skip" },
      1,
      missed,
    ],
    [
      "an outage, under misfire latest: merged into the newest, and what became of that",
      "; that one is CAUGHT_UP (job 1)",
      {},
      1,
      missed,
    ],
    [
      "it ran and FAILED",
      "failed: 2026-11-21 09:05 ran on time, and its job 1 FAILED after 1 of 4 attempts with HTTP_404: not found",
      {},
      4,
      async (at) => {
        await at.tick();
        await at.advance(minute);
        const error = { errorCode: "HTTP_404", errorMessage: "not found" };
        await at.end(await at.begin("often", nine + 5 * minute), { to: "FAILED", failures: 1, ...error });
      },
    ],
    [
      "no scheduler has made a pass since",
      "undecided: 2026-11-21 09:05 is past and undecided: the last decided time is 2026-11-21 09:00",
      {},
      -5,
      async (at) => [await at.tick(), await at.advance(hour)],
    ],
    [
      "its worker never came",
      "waiting-for-worker",
      {},
      4,
      async (at) => [await at.tick(), await at.advance(2 * minute)],
    ],
    [
      "an operator canceled its job",
      "skipped-canceled",
      {},
      4,
      async (at) => {
        await at.tick();
        const [row] = await at.ledger("often");
        await at.store.cancel([row?.jobId ?? fail()]);
      },
    ],
    ["the payload function threw", "skipped-payload", { payload: () => fail("no such day") }, 4, (at) => at.tick()],
  ])("%s", async (_, answer, over, from, live) => {
    const at = await stage([often(over)], nine + from * minute);
    await live(at);
    const { verdict, sentence } = await at.why("often", "09:05");
    expect(`${verdict}: ${sentence}`).toContain(answer);
  });

  test("overlap: the job of 09:00 was still going, and it is named", async () => {
    const at = await stage([often({ overlap: "skip" })], nine - minute);
    await at.tick();
    await at.advance(minute);
    const holder = await at.begin("often", nine);
    await at.advance(5 * minute);
    await at.tick();
    await at.begin("often", nine + 5 * minute);
    await at.end(holder);
    expect(await at.why("often", "09:05")).toMatchObject({
      verdict: "skipped-overlap",
      sentence: `2026-11-21 09:05 was skipped: the job of 09:00 (job ${holder.jobId}) was still going, and overlap says so`,
    });
  });

  test("a lock: the job that held it is named, also of another schedule", async () => {
    const other = defineSchedule({ id: "other", cron: "0 9 * * *", timezone: "Asia/Seoul", run: locked });
    const at = await stage([often({ run: locked }), other], nine + 4 * minute);
    await at.tick();
    const { results } = await at.store.insert([at.store.tables.inStates("QUEUED").map(jobLike)[0] ?? fail()]);
    const [first] = results;
    const [row] = await at.store.peek([first?.id ?? fail()]);
    const message = { jobId: first?.id ?? fail(), generation: row?.generation ?? 0, trace: "" };
    await at.store.claim([message], { worker: "w", alone: true });
    await at.advance(minute);
    await at.begin("often", nine + 5 * minute);
    expect(await at.why("often", "09:05")).toMatchObject({
      verdict: "skipped-lock-held",
      sentence: `2026-11-21 09:05 was skipped: job ${first?.id} (locked) held the lock its job needs`,
    });
  });

  test("no worker took its job before its deadline; a backfill and a trigger have none", async () => {
    const at = await stage([often({ startDeadline: "10m" })], nine + minute);
    await at.liveUntil(nine + 15 * minute, false);
    await at.work();
    expect(await at.why("often", "09:05")).toMatchObject({
      verdict: "skipped-expired",
      sentence: "2026-11-21 09:05 was skipped: its job had not started 10m after it, its startDeadline",
      advice: expect.stringContaining("npx belfry schedules backfill often"),
    });
    expect(await at.why("often", "09:10")).toMatchObject({ verdict: "ran" });
    const missed = { from: nine + 5 * minute, to: nine + 5 * minute };
    expect(await at.backfill("often", missed)).toMatchObject({ again: 1 });
    await triggerSchedule(at.ports, at.definitions, "often");
    await at.advance(hour);
    const ran = at.ran.length;
    await at.work();
    expect(at.ran.length - ran).toBe(2);
    expect(await at.why("often", "09:05")).toMatchObject({ verdict: "ran" });
  });

  test("its job waits for a slot, and who has it is named", async () => {
    const at = await stage([often({ run: capped })], nine - minute);
    await at.tick();
    await at.advance(6 * minute);
    await at.tick();
    const holder = await at.begin("often", nine);
    await at.begin("often", nine + 5 * minute);
    expect(await at.why("often", "09:05")).toMatchObject({
      verdict: "waiting-for-slot",
      sentence: expect.stringContaining(`waits for a free slot, which the job of 09:00 (job ${holder.jobId}) has`),
    });
  });
});

describe("times that are none", () => {
  test("a time the expression never names, with the times around it", async () => {
    const at = await stage([often()], nine);
    expect(await at.why("often", "09:07")).toMatchObject({
      verdict: "never-nominal",
      sentence: "2026-11-21 09:07 is no time of this schedule: it runs `*/5 * * * *` in Asia/Seoul",
      advice: "the times around it are 2026-11-21 09:05 and 2026-11-21 09:10",
    });
  });

  test("a time that an edit took away, with the version in force", async () => {
    const at = await stage([often()], nine);
    await at.tick();
    await at.advance(2 * minute);
    const hourly = defineSchedule({ id: "often", cron: "0 * * * *", timezone: "Asia/Seoul", run: work });
    await at.store.installSchedules([hourly.spec("test", "test")]);
    expect(await at.why("often", "09:05")).toMatchObject({
      verdict: "never-nominal",
      version: 2,
      sentence: expect.stringContaining("(version 2, in force from 2026-11-21T00:02:00.000Z)"),
    });
  });

  test("before the schedule began, and after it was deleted", async () => {
    const at = await stage([often()], nine);
    await at.store.createSchedule({ ...often().spec("test", "test"), id: "made" });
    await at.advance(hour);
    await at.store.deleteSchedule("made");
    expect(await at.why("made", "08:55")).toMatchObject({ verdict: "before-schedule" });
    expect(await at.why("made", "2026-11-21T10:05")).toMatchObject({
      verdict: "deleted",
      sentence: "2026-11-21 10:05 did not run: the schedule had been deleted at 2026-11-21T01:00:00.000Z",
    });
  });

  test("a time to come, also while paused, and one that is planned", async () => {
    const at = await stage([often()], nine);
    await at.tick();
    expect(await at.why("often", "09:30")).toMatchObject({ verdict: "not-due", advice: null });
    const planned = await at.why("often", "09:05");
    expect(planned).toMatchObject({ verdict: "planned", advice: null });
    expect(planned.sentence).toMatch(/^2026-11-21 09:05 is planned: job \d+ is due at 2026-11-21T00:05:00.000Z$/);
    await at.store.pauseSchedule("often", paused);
    expect(await at.why("often", "09:30")).toMatchObject({
      verdict: "not-due",
      sentence: expect.stringContaining("paused"),
    });
    expect(await at.why("often", "09:05")).toMatchObject({ verdict: "planned-paused" });
  });

  test("a time that cannot be read, and a schedule that never was", async () => {
    const at = await stage([often()], nine);
    await expect(at.explain("often", "nine")).rejects.toThrow('time "nine" cannot be read: write 09:00 for today');
    await expect(at.explain("often", "2026-02-30T09:00")).rejects.toThrow("cannot be read");
    await expect(at.explain("never", "09:00")).rejects.toThrow('there is no schedule "never"');
  });
});

describe("clock changes", () => {
  const daily = (dst: object) =>
    defineSchedule({ id: "often", cron: "30 2 * * *", timezone: "America/New_York", run: work, dst });
  const beforeGap = Date.UTC(2026, 2, 8, 5);

  test.each([
    ["skipped under the rule skip", "skipped-dst-gap", daily({ gap: "skip" })],
    ["run at the first valid reading", "ran", daily({})],
    ["skipped as one of an interval", "skipped-dst-gap", often({ timezone: "America/New_York" })],
  ])("a skipped reading that was %s has its answer under its own name", async (_, verdict, schedule) => {
    const at = await stage([schedule], beforeGap);
    await at.liveUntil(beforeGap + 4 * hour);
    const localTime = "2026-03-08T02:30";
    expect(await at.why("often", localTime)).toMatchObject({ verdict, localTime });
  });
});

function fail(message = "nothing there"): never {
  throw new Error(message);
}

/** A new job as this one, so that a test can make one that no schedule made. */
const jobLike = ({ kind, slotKeys }: { kind: string; slotKeys: readonly string[] }) => ({ ...aRow, kind, slotKeys });
