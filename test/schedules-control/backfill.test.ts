import { describe, expect, test } from "vitest";
import { defineSchedule } from "../../src/define/define-schedule.ts";
import type { OccurrenceView } from "../../src/machine/schedule.ts";
import { occurrenceKey } from "../support/reference/tables.ts";
import { capped, hour, midnight, minute, stage, type Stage, work } from "./stage.ts";
import { aPause } from "../support/pause.ts";

const often = (cron: string, over: object = {}) =>
  defineSchedule({ id: "s", cron, timezone: "UTC", run: work, misfire: "skip", ...over } as never);
const minuteOf = (row: { nominalAt: number }): number => (row.nominalAt - midnight) / minute;
const executed = (rows: readonly OccurrenceView[]): number[] =>
  rows.filter((row) => row.outcome === "FIRED" || row.outcome === "CAUGHT_UP").map(minuteOf);

async function edit(at: Stage, cron: string, over: object = {}): Promise<void> {
  await at.store.installSchedules([often(cron, over).spec("test", "test")]);
}

/** Lets every paced job become due and run. */
async function drain(at: Stage): Promise<void> {
  for (let round = 0; round < 500; round++) {
    await at.work();
    if ((await at.store.jobs({ states: ["PENDING", "QUEUED"] })).length === 0) return;
    await at.advance(10_000);
  }
  throw new Error("the backfill never ends");
}

describe("backfill", () => {
  test("keeps its own pace in its own slot, beside the jobs that are on time", async () => {
    const at = await stage([often("* * * * *", { overlap: "skip" })]);
    await at.advance(30 * minute);
    await at.tick();
    await at.work();
    await at.backfill("s", { from: midnight + minute, to: midnight + 20 * minute, paceMs: 60_000 });
    const jobs = at.store.tables.inStates("PENDING", "QUEUED").filter((row) => row.slotKeys.includes("backfill:s"));
    expect(jobs).toHaveLength(20);
    const due = jobs.map((row) => row.dueAt).toSorted((a, b) => a - b);
    expect(due.slice(1).every((each, k) => each - (due[k] ?? 0) === 60_000)).toBe(true);
    const [first] = due;
    const onTime = midnight + 31 * minute;
    await at.liveUntil(Math.max(onTime, first ?? 0));
    const row = (await at.ledger("s")).find((each) => each.nominalAt === onTime);
    expect(row).toMatchObject({ outcome: "FIRED" });
  });

  test("keeps a kind's cap beside its own slot", async () => {
    const at = await stage([often("* * * * *", { run: capped })]);
    await at.advance(30 * minute);
    await at.tick();
    await at.work();
    await at.backfill("s", { from: midnight + minute, to: midnight + 5 * minute });
    const made = at.store.tables.inStates("PENDING", "QUEUED").filter((row) => row.slotKeys.includes("backfill:s"));
    expect(made.map(({ slotKeys }) => slotKeys.includes("cap:capped"))).toEqual([true, true, true, true, true]);
  });

  test("gives the times that misfire merged a job each", async () => {
    const at = await stage([often("*/10 * * * *", { misfire: "latest" })]);
    await at.advance(hour);
    await at.tick();
    await at.work();
    expect(executed(await at.ledger("s"))).toEqual([60]);
    await at.backfill("s", { from: midnight + minute, to: midnight + hour });
    await drain(at);
    expect(executed(await at.ledger("s"))).toEqual([10, 20, 30, 40, 50, 60]);
  });

  test("leaves a FAILED time to retry, and times to come to the tick", async () => {
    const at = await stage([often("*/10 * * * *")]);
    await at.liveUntil(midnight + 9 * minute);
    await at.advance(minute);
    const job = await at.begin("s", midnight + 10 * minute);
    await at.end(job, { to: "FAILED", failures: 1, errorCode: "X" });
    const report = await at.backfill("s", { from: midnight + minute, to: midnight + 10 * hour });
    expect(report.times.map((time) => [minuteOf(time), time.was, time.runs])).toEqual([[10, "FIRED", false]]);
  });

  test("before the ledger begins only with force, and then by the first version", async () => {
    const at = await stage([often("*/10 * * * *")]);
    await at.tick();
    const window = { from: midnight - 30 * minute, to: midnight - minute };
    await expect(at.backfill("s", window)).rejects.toThrow(
      'the ledger of "s" begins at 2026-11-21T00:00:00.000Z; what ran before is not recorded: start there, or force it',
    );
    expect(await at.backfill("s", { ...window, force: true })).toMatchObject({ added: 3 });
    await drain(at);
    expect(executed(await at.ledger("s")).slice(0, 3)).toEqual([-30, -20, -10]);
  });

  test("has an end: too many times, a paused schedule, one that is off, a window the wrong way round", async () => {
    const at = await stage([often("* * * * *")]);
    await at.advance(8 * 24 * hour);
    await at.tick();
    await at.tick();
    const from = midnight;
    await expect(at.backfill("s", { from, to: at.now() })).rejects.toThrow("are more than 10000 times: narrow it");
    await expect(at.backfill("s", { from: at.now(), to: from })).rejects.toThrow("must not be after to");
    await at.store.pauseSchedule("s", aPause);
    await expect(at.backfill("s", { from, to: from + hour })).rejects.toThrow('"s" is paused');
    await at.store.pauseSchedule("s", null);
    await edit(at, "* * * * *", { enabled: false });
    await expect(at.backfill("s", { from, to: from + hour })).rejects.toThrow('"s" is off in this stage');
    await expect(at.backfill("never", { from, to: from + hour })).rejects.toThrow('no schedule "never"');
  });

  test("keeps a time apart from the same reading of another zone that an edit left at that instant", async () => {
    const at = await stage([often("0 * * * *", { timezone: "Europe/London" })]);
    await at.liveUntil(midnight + 2 * hour + minute);
    const rows = await at.ledger("s");
    expect(rows.map(minuteOf)).toEqual([60, 120]);
    const report = await at.backfill("s", { from: midnight + minute, to: midnight + 2 * hour, dryRun: true });
    expect(report.times.map((time) => time.was)).toEqual(["FIRED", "FIRED"]);
    // In winter both zones show the same reading at the same instant: only the name of the zone differs.
    const { tables } = at.store;
    for (const row of Array.from(tables.occurrences.values())) {
      tables.occurrences.delete(occurrenceKey(row));
      tables.putOccurrence({ ...row, timezone: "UTC" });
    }
    const again = await at.backfill("s", { from: midnight + minute, to: midnight + 2 * hour, dryRun: true });
    expect(again.times.map((time) => time.was)).toEqual(rows.map((row) => `FIRED as ${row.localTime}`));
  });

  test("a time without a payload is reported and stops no other", async () => {
    const payload = ({ scheduledFor }: { scheduledFor: Date }) => {
      if (scheduledFor.getTime() === midnight + 20 * minute) throw new Error("no such day");
    };
    const at = await stage([often("*/10 * * * *", { payload })]);
    await at.advance(35 * minute);
    await at.tick();
    const report = await at.backfill("s", { from: midnight + minute, to: midnight + 30 * minute });
    expect(report.failed).toEqual([{ localTime: "2026-11-21T00:20", kind: "work", message: "no such day" }]);
    expect(report.added + report.again).toBe(2);
  });
});
