import { describe, expect, test } from "vitest";
import { sendOutbox } from "../../src/run/send.ts";
import { type Cron, defineSchedule } from "../../src/define/define-schedule.ts";
import { aSpec } from "../schedules/spec.ts";
import { control, midnight, minute, stage, work } from "./stage.ts";
import {
  createSchedule,
  deleteSchedule,
  pauseSchedule,
  triggerSchedule,
  updateSchedule,
} from "../../src/insight/schedule-control.ts";
import { aPause } from "../support/pause.ts";

const often = (cron: Cron) => defineSchedule({ id: "s", cron, timezone: "UTC", run: work });
const input = { id: "made", kind: "work", cron: "*/2 * * * *", timezone: "UTC" };
const outcomes = (rows: readonly { localTime: string; outcome: string }[]) =>
  rows.map((row) => [row.localTime.slice(11), row.outcome]);

/** A stage whose messages of the next five minutes are already in the queue. */
async function handedOff() {
  const at = await stage([]);
  await createSchedule(at.ports, at.definitions, input, control);
  await at.tick();
  expect(at.sent.map((message) => message.delayMs)).toEqual([2 * minute, 4 * minute]);
  return at;
}

describe("what was handed to the queue already", () => {
  test("does not run after an edit took its time away; the new times run", async () => {
    const at = await handedOff();
    await updateSchedule(at.ports, at.definitions, { ...input, cron: "3 * * * *" }, control);
    await at.liveUntil(midnight + 10 * minute);
    expect(outcomes(await at.ledger("made"))).toEqual([["00:03", "FIRED"]]);
    expect(at.ran).toHaveLength(1);
  });

  test("runs once when the edit keeps its time", async () => {
    const at = await handedOff();
    await updateSchedule(at.ports, at.definitions, { ...input, overlap: "skip" }, control);
    await at.liveUntil(midnight + 5 * minute);
    expect(outcomes(await at.ledger("made")).slice(0, 2)).toEqual([
      ["00:02", "FIRED"],
      ["00:04", "FIRED"],
    ]);
    expect(at.ran).toHaveLength(2);
  });

  test("does not run while paused, and the next time after a resume does", async () => {
    const at = await handedOff();
    await pauseSchedule(at.ports, "made", aPause);
    await at.liveUntil(midnight + 3 * minute);
    await pauseSchedule(at.ports, "made", null);
    await at.liveUntil(midnight + 5 * minute);
    expect(outcomes(await at.ledger("made")).slice(0, 2)).toEqual([
      ["00:02", "SKIPPED"],
      ["00:04", "FIRED"],
    ]);
  });

  test("does not run after a delete, and the ledger keeps what ran before", async () => {
    const at = await handedOff();
    await at.liveUntil(midnight + 2 * minute);
    await deleteSchedule(at.ports, at.definitions, "made");
    await at.liveUntil(midnight + 10 * minute);
    expect(outcomes(await at.ledger("made"))).toEqual([["00:02", "FIRED"]]);
    expect(at.ran).toHaveLength(1);
  });

  test("does not run when code switches the schedule off in this stage", async () => {
    const at = await stage([often("*/2 * * * *")]);
    await at.tick();
    await at.store.installSchedules([{ ...often("*/2 * * * *").spec("test", "test"), enabled: false }]);
    await at.liveUntil(midnight + 10 * minute);
    expect(at.ran).toEqual([]);
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
  test("a schedule that people make is ticked and runs like one in code", async () => {
    const at = await stage([]);
    const row = await createSchedule(
      at.ports,
      at.definitions,
      { ...input, every: "1m", cron: undefined, timezone: undefined },
      control,
    );
    expect(row).toMatchObject({ source: "api", version: 1, spec: { app: "test", job: { kind: "work" } } });
    await at.liveUntil(midnight + 3 * minute);
    expect(at.ran).toHaveLength(3);
  });

  test("code wins for its own ids, also before it was ever installed", async () => {
    const at = await stage([often("0 * * * *")]);
    const mine = { ...input, id: "s" };
    await expect(createSchedule(at.ports, at.definitions, mine, control)).rejects.toMatchObject({
      code: "schedule-in-code",
    });
    await expect(updateSchedule(at.ports, at.definitions, mine, control)).rejects.toThrow("change it there and deploy");
    await expect(deleteSchedule(at.ports, at.definitions, "s")).rejects.toThrow("defined in code");
    expect(await pauseSchedule(at.ports, "s", aPause)).toMatchObject({ pause: aPause, source: "code" });
  });

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

  test("everything that is wrong with a schedule is said at once", async () => {
    const at = await stage([]);
    const wrong = { ...input, id: "Made Up", cron: "61 * * * *", timezone: "Mars/Phobos", overlap: "never" as "skip" };
    const refused = await createSchedule(at.ports, at.definitions, wrong, control).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "invalid-schedule" });
    expect(
      (refused as { problems: { field: string }[] }).problems
        .map((problem) => problem.field)
        .toSorted((a, b) => (a < b ? -1 : 1)),
    ).toEqual(["cron", "id", "overlap", "timezone"]);
    await expect(createSchedule(at.ports, at.definitions, { ...input, kind: "wrok" }, control)).rejects.toThrow(
      'no job is defined as "wrok" in this process; there are work, capped, locked',
    );
  });
});

describe("trigger", () => {
  test("makes one job now, also while paused, and leaves the ledger alone", async () => {
    const at = await stage([often("0 * * * *")]);
    await at.tick();
    const before = await at.ledger("s");
    await at.store.pauseSchedule("s", aPause);
    const made = await triggerSchedule(at.ports, at.definitions, "s", control);
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
    const { id } = await triggerSchedule(at.ports, at.definitions, "s", control);
    await at.work();
    expect((await at.store.job(id))?.state).toBe("SKIPPED");
    expect(
      await triggerSchedule(at.ports, at.definitions, "none", control).catch((error: Error) => error.message),
    ).toContain('no schedule "none"');
  });
});
