import { describe, expect, test } from "vitest";
import { sendOutbox } from "../../src/run/send.ts";
import { type Cron, defineSchedule } from "../../src/define/define-schedule.ts";
import { aSpec } from "../schedules/spec.ts";
import { control, midnight, minute, stage, work } from "./stage.ts";
import { createSchedule, deleteSchedule, triggerSchedule, updateSchedule } from "../../src/insight/schedule-control.ts";
import { aPause } from "../support/pause.ts";

const often = (cron: Cron) => defineSchedule({ id: "s", cron, timezone: "UTC", run: work });
const input = { id: "made", kind: "work", cron: "*/2 * * * *", timezone: "UTC" };
const outcomes = (rows: readonly { localTime: string; outcome: string }[]) =>
  rows.map((row) => [row.localTime.slice(11), row.outcome]);

describe("what was handed to the queue already", () => {
  test("runs once when an edit keeps its time, and has the slots of the new rule", async () => {
    const at = await stage([]);
    await createSchedule(at.ports, at.definitions, input, control);
    await at.tick();
    expect(at.sent.map((message) => message.delayMs)).toEqual([2 * minute, 4 * minute]);
    await updateSchedule(at.ports, at.definitions, { ...input, overlap: "skip" }, control);
    await at.liveUntil(midnight + 5 * minute);
    expect(outcomes(await at.ledger("made")).slice(0, 2)).toEqual([
      ["00:02", "FIRED"],
      ["00:04", "FIRED"],
    ]);
    expect(at.ran).toHaveLength(2);
  });

  test("a job whose time is changed answers only to its new message", async () => {
    const at = await stage([often("*/2 * * * *")]);
    await at.tick();
    const [row] = await at.ledger("s");
    if (row?.jobId == null) throw new Error("nothing was planned");
    const { jobId } = row;
    await at.store.cancel([jobId]);
    await sendOutbox(at.ports, (await at.store.retry([jobId])).aftermath.outbox);
    await at.liveUntil(midnight + 3 * minute);
    expect(at.ran.filter((id) => id === jobId)).toHaveLength(1);
  });
});

describe("people and code", () => {
  test("after a clock that ran ahead was put right, an edit makes it decide from now on, and nothing runs twice", async () => {
    const at = await stage([]);
    await createSchedule(at.ports, at.definitions, input, control);
    await at.liveUntil(midnight + 4 * minute);
    await at.advance(24 * 60 * minute);
    await at.tick();
    await at.work();
    const ran = at.ran.length;
    await at.advance(-24 * 60 * minute);
    await at.liveUntil(midnight + 12 * minute);
    expect(at.ran.length).toBe(ran);
    await updateSchedule(at.ports, at.definitions, { ...input, misfire: "skip" }, control);
    await at.liveUntil(midnight + 16 * minute);
    expect(outcomes(await at.ledger("made")).slice(0, 6)).toEqual([
      ["00:02", "FIRED"],
      ["00:04", "FIRED"],
      ["00:06", "FIRED"],
      ["00:08", "FIRED"],
      ["00:10", "COALESCED"],
      ["00:12", "COALESCED"],
    ]);
    expect(at.ran.length - ran).toBe(2);
  });

  test("what the code of an app left behind that is gone as a whole can be deleted", async () => {
    const at = await stage([often("0 * * * *")]);
    await at.store.installSchedules([aSpec({ id: "left", app: "gone", job: { ...aSpec().job, kind: "gone" } })]);
    await at.tick();
    expect(at.lines.at(-1)?.fields["problem"]).toContain("npx belfry schedules delete left");
    expect(await deleteSchedule(at.ports, at.definitions, "left")).toEqual({ waiting: 0 });
    expect(await at.tick()).toMatchObject({ undecided: 0 });
  });
});

describe("trigger", () => {
  test("makes one job now, also while paused, and leaves the ledger alone", async () => {
    const at = await stage([often("0 * * * *")]);
    await at.tick();
    const before = await at.ledger("s");
    await at.store.pauseSchedule("s", aPause);
    const made = await triggerSchedule(at.ports, at.definitions, "s");
    await at.work();
    expect(at.ran).toEqual([made.id]);
    expect(await at.ledger("s")).toEqual(before);
  });

  test("obeys the schedule's overlap rule", async () => {
    const skipping = defineSchedule({ id: "s", cron: "0 * * * *", timezone: "UTC", run: work, overlap: "skip" });
    const at = await stage([skipping], midnight - minute);
    await at.tick();
    await at.advance(minute);
    await at.begin("s", midnight);
    const { id } = await triggerSchedule(at.ports, at.definitions, "s");
    await at.work();
    expect((await at.store.job(id))?.state).toBe("SKIPPED");
    expect(await triggerSchedule(at.ports, at.definitions, "none").catch((error: Error) => error.message)).toContain(
      'no schedule "none"',
    );
  });
});
