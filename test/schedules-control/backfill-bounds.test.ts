import { describe, expect, test } from "vitest";
import { backfill, type BackfillOptions } from "../../src/core/admin/backfill.ts";
import { registry } from "../../src/core/define/definition.ts";
import { contractLimits } from "../../src/core/job/contract-limits.ts";
import { noAftermath } from "../../src/core/ports/aftermath.ts";
import type { Ports } from "../../src/core/ports/ports.ts";
import type { OccurrenceView, ScheduleRow, ScheduleSpec } from "../../src/core/ports/schedule.ts";
import type { BackfillTime, ScheduleFacts } from "../../src/core/ports/schedule-store.ts";
import { recordingLog, recordingMetrics } from "../../src/testing/recording.ts";
import { aRow, aSpec } from "../schedules/spec.ts";
import { appOf, hour, midnight, minute } from "./stage.ts";

const day = 24 * hour;
const every = (everyMs: number, over: Partial<ScheduleSpec> = {}): ScheduleSpec =>
  aSpec({ expression: { form: "every", everyMs }, ...over });
const hourly = every(hour);
const unreadable = aSpec({ expression: { form: "cron", cron: "61 * * * *" } });
const version = (number: number, fromAt: number, spec: ScheduleSpec | null = hourly) => ({
  version: number,
  spec,
  fromAt,
});

interface Given extends Partial<ScheduleFacts> {
  readonly spec?: ScheduleSpec;
  readonly stored?: Partial<ScheduleRow>;
  readonly rows?: readonly Partial<OccurrenceView>[];
  /** What each page wrote. */
  readonly done?: { added: number; again: number } | { refused: "unknown" };
}

/** A backfill at 12:00 over a store that only answers, of a schedule that has been there since midnight. */
async function filled(options: Partial<BackfillOptions>, given: Given = {}) {
  const { spec = hourly, stored = {}, rows = [], done = { added: 1, again: 0 }, ...facts } = given;
  const calls: unknown[][] = [];
  const pages: (readonly BackfillTime[])[] = [];
  const now = midnight + 12 * hour;
  const store = {
    dispatchWindowMs: 0,
    scheduleFacts: async () => ({
      now,
      row: aRow({ spec, decidedUntil: now, ...stored }),
      ledgerFrom: midnight,
      versions: [version(1, midnight, spec)],
      ...facts,
    }),
    occurrencesBetween: async (...asked: unknown[]) => (calls.push(["rows", ...asked]), rows),
    installSlots: async (groups: unknown) => void calls.push(["slots", groups]),
    backfill: async (id: string, times: readonly BackfillTime[], how: object) => {
      pages.push(times);
      calls.push(["backfill", id, how]);
      return done;
    },
    relay: async ({ lane }: { lane: string }) => (calls.push(["relay", lane]), noAftermath.outbox),
  };
  const ports = {
    store,
    random: { next: () => 0.5, id: () => "id" },
    log: recordingLog([]),
    metrics: recordingMetrics([]),
    crashPoint: async () => {},
    queue: {},
  } as unknown as Ports;
  const base = { from: midnight + hour, to: midnight + 2 * hour, dryRun: false, force: false, paceMs: null };
  const report = await backfill(ports, registry([appOf()]), "s", { ...base, stage: "test", ...options });
  return { report, calls, pages, minutes: report.times.map((time) => (time.nominalAt - midnight) / minute) };
}

const refused = (options: Partial<BackfillOptions>, given: Given = {}): Promise<string> =>
  filled(options, given).then(
    () => "nothing",
    (error: unknown) => String(error),
  );

describe("the window", () => {
  test("has both its ends, and no time a millisecond beside them", async () => {
    const minutes = async (from: number, to: number, force: boolean) =>
      (await filled({ from: midnight + from, to: midnight + to, force })).minutes;
    for (const force of [false, true]) {
      expect(await minutes(hour, 2 * hour, force)).toEqual([60, 120]);
      expect(await minutes(hour + 1, 2 * hour, force)).toEqual([120]);
      expect(await minutes(hour, 2 * hour - 1, force)).toEqual([60]);
      expect(await minutes(hour, hour, force)).toEqual([60]);
    }
  });

  test("ends with what was decided, and with now", async () => {
    const to = midnight + day;
    const decidedUntil = midnight + 3 * hour;
    expect((await filled({ to })).minutes.at(-1)).toBe(12 * 60);
    expect((await filled({ to }, { stored: { decidedUntil } })).minutes).toEqual([60, 120, 180]);
    expect((await filled({ to }, { stored: { decidedUntil: midnight + day } })).minutes.at(-1)).toBe(12 * 60);
  });

  test("may begin now, and may have ten years", async () => {
    const now = midnight + 12 * hour;
    expect(await refused({ from: now, to: now })).toBe("nothing");
    expect(await refused({ from: now + 1, to: now + 1 })).toContain("lies in the future");
    const most = contractLimits.backfillDaysMax * day;
    const spec = aSpec({ expression: { form: "at", at: midnight } });
    expect(await refused({ from: now - most, to: now, force: true }, { spec })).toBe("nothing");
    expect(await refused({ from: now - most - 1, to: now, force: true }, { spec })).toContain("more than 3660 days");
  });

  test("may have ten thousand times", async () => {
    const spec = every(1_000);
    const window = { from: midnight + 1, to: midnight + 10_000_000, dryRun: true };
    expect((await filled(window, { spec })).minutes).toHaveLength(contractLimits.backfillTimesMax);
    expect(await refused({ ...window, to: window.to + 1_000 }, { spec })).toContain("are more than 10000 times");
  });

  test("begins with the ledger unless it is forced, and then only the first version reaches back", async () => {
    const versions = [version(1, midnight + 4 * hour), version(2, midnight + 6 * hour, every(30 * minute))];
    const given = { ledgerFrom: midnight + 4 * hour, versions };
    const window = { from: midnight + 3 * hour, to: midnight + 7 * hour };
    expect(await refused(window, given)).toContain('the ledger of "s" begins at 2026-11-21T04:00:00.000Z');
    expect((await filled({ ...window, from: midnight + 4 * hour }, given)).minutes).toEqual([300, 360, 390, 420]);
    const { report, minutes } = await filled({ ...window, force: true }, given);
    expect(minutes).toEqual([180, 240, 300, 360, 390, 420]);
    expect(report.times.map((time) => time.version)).toEqual([1, 1, 1, 1, 2, 2]);
    expect(await refused({ from: -5, to: 0 }, { ...given, ledgerFrom: null, now: day })).toBe("nothing");
  });

  test("asks nothing of versions that lie outside it", async () => {
    const versions = [
      version(1, midnight, unreadable),
      version(2, midnight + hour),
      version(3, midnight + 4 * hour, unreadable),
    ];
    const window = { from: midnight + 2 * hour, to: midnight + 4 * hour };
    expect((await filled(window, { versions })).minutes).toEqual([120, 180, 240]);
    expect(await refused({ ...window, to: window.to + 1 }, { versions })).toContain("RangeError");
  });

  test("has no reading that a change of clocks left out", async () => {
    const cron = { expression: { form: "cron", cron: "30 2 * * *" }, timezone: "America/New_York" } as const;
    const spec = aSpec({ ...cron, dst: { gap: "skip", overlap: "auto" } });
    const at = Date.UTC(2026, 2, 8);
    const given = { spec, versions: [version(1, at - 3 * day, spec)], ledgerFrom: at - 3 * day };
    const { report } = await filled({ from: at - 2 * day, to: at + 2 * day, dryRun: true }, given);
    expect(report.times.map((time) => time.localTime)).toEqual([
      "2026-03-06T02:30",
      "2026-03-07T02:30",
      "2026-03-09T02:30",
    ]);
  });
});

test.each([
  [{ row: null }, 'schedule "s" was deleted: make it again'],
  [{ stored: { pause: { at: 0, until: null, reason: null, by: null } as never } }, '"s" is paused'],
  [{ spec: every(hour, { enabled: false }) }, '"s" is off in this stage'],
])("what cannot run is refused: %#", async (given, message) => {
  expect(await refused({}, given)).toContain(message);
});

describe("what stands in the ledger", () => {
  const own = { nominalAt: midnight + hour, localTime: "2026-11-21T01:00:00", fold: 0, timezone: "UTC", reason: null };
  const judged = async (...rows: Partial<OccurrenceView>[]) => {
    const { report, pages } = await filled({ to: midnight + hour }, { rows: rows.map((row) => ({ ...own, ...row })) });
    const [time] = report.times;
    return [time?.was, time?.runs, pages.flat().length];
  };

  test("at the place of a time says whether it runs", async () => {
    expect(await judged()).toEqual(["missing", true, 1]);
    expect(await judged({ outcome: "SKIPPED", reason: "misfire" })).toEqual(["SKIPPED misfire", true, 1]);
    expect(await judged({ outcome: "SKIPPED" })).toEqual(["SKIPPED ", true, 1]);
    expect(await judged({ outcome: "COALESCED", reason: "into x" })).toEqual(["COALESCED", true, 1]);
    for (const outcome of ["PLANNED", "FIRED", "CAUGHT_UP"] as const)
      expect(await judged({ outcome })).toEqual([outcome, false, 0]);
  });

  test("at its instant under another reading, fold or zone keeps it from running, unless that was merged or a gap", async () => {
    for (const other of [{ localTime: "2026-11-21T10:00" }, { fold: 1 }, { timezone: "Asia/Seoul" }] as const) {
      const localTime = "localTime" in other ? other.localTime : own.localTime;
      expect(await judged({ ...other, outcome: "SKIPPED" })).toEqual([`SKIPPED as ${localTime}`, false, 0]);
      expect(await judged({ ...other, outcome: "COALESCED" })).toEqual(["missing", true, 1]);
      expect(await judged({ ...other, outcome: "SKIPPED", reason: "dst-gap" })).toEqual(["missing", true, 1]);
      const both = [
        { outcome: "SKIPPED", reason: "r" },
        { ...other, outcome: "FIRED" },
      ] as const;
      expect(await judged(...both)).toEqual([`FIRED as ${localTime}`, false, 0]);
      expect(await judged(...both.toReversed())).toEqual([`FIRED as ${localTime}`, false, 0]);
    }
  });

  test("is read once, for the window, with room for two rows a time", async () => {
    const { calls } = await filled({});
    expect(calls[0]).toEqual(["rows", "s", midnight + hour, midnight + 2 * hour, 20_000]);
  });
});

describe("what is written", () => {
  const capped = { job: { ...hourly.job, kind: "capped" } };
  const slot = { key: "backfill:s", size: 1, onRefusal: "hold", reason: "slot" };
  const pace = { paceMs: 7_000, slotKey: "backfill:s" };
  const paced = every(hour, { misfire: { ...hourly.misfire, paceMs: 7_000 } });

  test("are the jobs in their slot, with the schedule's pace or another, and then the lane is relayed", async () => {
    const { report, calls, pages } = await filled({}, { spec: paced });
    expect(report).toMatchObject({ dryRun: false, added: 1, again: 0, failed: [], paceMs: 7_000 });
    expect(calls.slice(1)).toEqual([
      ["slots", [slot]],
      ["backfill", "s", pace],
      ["relay", "default"],
    ]);
    const { occurrence } = pages[0]?.[0] ?? {};
    expect(occurrence).toMatchObject({ outcome: "PLANNED", isCatchUp: true, missedCount: 0 });
    expect(occurrence?.job).toMatchObject({ dueAt: null, expiresAt: null, slotKeys: ["backfill:s"] });
    expect((await filled({ paceMs: 9 }, { spec: paced })).report.paceMs).toBe(9);
  });

  test("are the slots of each kind first", async () => {
    const versions = [version(1, midnight), version(2, midnight + hour, every(hour, capped))];
    const { calls } = await filled({}, { versions });
    const cap = { key: "cap:capped", size: 1, onRefusal: "hold", reason: "slot" };
    expect(calls[1]).toEqual(["slots", [cap, slot]]);
  });

  test("is nothing of a dry run, and no page where nothing runs", async () => {
    const dry = await filled({ dryRun: true });
    expect([dry.report.dryRun, dry.calls.length, dry.minutes]).toEqual([true, 1, [60, 120]]);
    const none = await filled({ to: midnight + hour + 1, from: midnight + hour + 1 });
    expect([none.pages, none.calls.filter(([name]) => name === "relay")]).toEqual([[], []]);
  });

  test.each([
    [{ added: 0, again: 0 }, 0],
    [{ added: 0, again: 2 }, 1],
    [{ added: 2, again: 0 }, 1],
  ])("%j is relayed %d times", async (done, relayed) => {
    const { calls, report } = await filled({}, { done });
    expect(report).toMatchObject(done);
    expect(calls.filter(([name]) => name === "relay")).toHaveLength(relayed);
  });

  test("is refused when the schedule was deleted in between", async () => {
    expect(await refused({}, { done: { refused: "unknown" } })).toContain('no schedule "s"');
  });

  test.each([
    [undefined, [1_000, 1_000, 500], 9],
    [true, [1_000, 1_000, 500], 9],
    [false, [1_000], 3],
  ])("is a thousand times a page, until it is told %s", async (goesOn, sizes, changed) => {
    const told: unknown[] = [];
    const onPage = async (done: object) => (told.push(done), goesOn === true);
    const window = { from: midnight + 1, to: midnight + 2_500_000, ...(goesOn === undefined ? {} : { onPage }) };
    const { pages, report } = await filled(window, { spec: every(1_000), done: { added: 1, again: 2 } });
    expect(pages.map((page) => page.length)).toEqual(sizes);
    expect(report.added + report.again).toBe(changed);
    expect(told).toEqual(goesOn === undefined ? [] : sizes.map(() => ({ added: 1, again: 2 })));
  });
});
