import { describe, expect, test } from "vitest";
import { explain } from "../../../src/core/admin/explain.ts";
import type { HistoryRow, JobId, JobView } from "../../../src/core/job/job.ts";
import type { OccurrenceView } from "../../../src/core/ports/schedule.ts";
import type { ScheduleFacts, SlotHolder } from "../../../src/core/ports/schedule-store.ts";
import { aRow, hour, midnight, minute } from "../../schedules/spec.ts";
import { world } from "../world.ts";
import { aHolder, aJob, anOccurrence, daily, factsOf, nine } from "./facts.ts";

const now = nine + hour;

interface Stored {
  readonly facts?: Partial<ScheduleFacts>;
  readonly rows?: readonly OccurrenceView[];
  readonly job?: JobView;
  readonly history?: readonly Partial<HistoryRow>[];
  readonly holder?: SlotHolder;
}

/** A store that answers from these rows, and what it was asked. */
function storing({ facts = {}, rows = [], job, history = [], holder }: Stored) {
  const asked: unknown[] = [];
  const { store } = world();
  const own = Object.assign({}, store, {
    scheduleFacts: async () => factsOf(facts),
    occurrencesAt: async (id: string, { localTimes, instants }: { localTimes: string[]; instants: number[] }) => {
      asked.push([id, localTimes]);
      return rows.filter((row) => localTimes.includes(row.localTime) || instants.includes(row.nominalAt));
    },
    job: async () => (job === undefined ? null : { job, history }),
    slotHolder: async (id: string, { at, prefix }: { at: number; prefix: string }) => {
      asked.push([id, at, prefix]);
      return holder ?? null;
    },
  });
  const say = (time: string, sees?: (kind: string) => boolean) => explain({ store: own }, "s", time, sees);
  return { asked, say };
}

const times = (answers: readonly { localTime: string; version: number | null }[]): string[] =>
  answers.map(({ localTime, version }) => `${localTime} v${version}`);

describe("the rows of a time", () => {
  const instant = new Date(nine).toISOString();
  const other = anOccurrence({ localTime: "2026-11-21T04:00", timezone: "America/New_York" });

  test("are those of its reading, before those of its instant by another clock", async () => {
    const both = storing({ rows: [other, anOccurrence()] });
    expect(times(await both.say("09:00"))).toEqual(["2026-11-21T09:00 v1"]);
    expect(times(await both.say(instant))).toEqual(["2026-11-21T09:00 v1"]);
    expect(times(await storing({ rows: [other] }).say(instant))).toEqual(["2026-11-21T04:00 v1"]);
    expect(times(await storing({ rows: [other] }).say("09:00"))).toEqual(["2026-11-21T04:00 v1"]);
  });

  test("are both of two passes, unless one instant is asked for", async () => {
    const rows = [anOccurrence(), anOccurrence({ fold: 1, nominalAt: nine + hour, version: 2 })];
    expect(times(await storing({ rows }).say("09:00"))).toEqual(["2026-11-21T09:00 v1", "2026-11-21T09:00 v1"]);
    expect(await storing({ rows }).say(instant)).toMatchObject([{ occurrence: { fold: 0 } }]);
  });

  test("include one with seconds that are zero, and not one of other seconds", async () => {
    const [whole, half] = ["00", "30"].map((seconds) => anOccurrence({ localTime: `2026-11-21T09:00:${seconds}` }));
    if (whole === undefined || half === undefined) throw new Error("no rows");
    const early = { ...whole, nominalAt: nine - hour };
    expect(times(await storing({ rows: [half, early] }).say("09:00"))).toEqual(["2026-11-21T09:00:00 v1"]);
  });

  test("without any there is one answer for the time", async () => {
    const [answer] = await storing({ facts: { now: nine - minute } }).say("09:00");
    expect(answer).toMatchObject({ schedule: "s", localTime: "2026-11-21T09:00", timezone: "UTC", version: 1 });
    expect(answer?.verdict).toBe("not-due");
  });
});

describe("the clock and the version of a time", () => {
  const newYork = daily({ timezone: "America/New_York" });
  const moved = {
    versions: [
      { version: 1, spec: newYork, fromAt: midnight - 24 * hour },
      { version: 2, spec: daily(), fromAt: nine + 30 * minute },
    ],
  };

  test("are those that were in force then", async () => {
    const facts = { ...moved, row: aRow({ id: "row" }) };
    const [answer] = await storing({ facts }).say("2026-11-21T02:00");
    expect(answer).toMatchObject({ schedule: "row", timezone: "America/New_York", version: 1 });
    expect(answer?.sentence).toContain("America/New_York");
    const [later] = await storing({ facts }).say("2026-11-21T10:00");
    expect(later).toMatchObject({ timezone: "UTC", version: 2 });
  });

  test("of a schedule without versions are UTC and none", async () => {
    const [answer] = await storing({ facts: { versions: [], row: null } }).say("09:00");
    expect(answer).toMatchObject({ schedule: "", localTime: "2026-11-21T09:00", timezone: "UTC", version: null });
  });

  test("of a row are those of its own version, though another was in force at its time", async () => {
    const [own] = await storing({ facts: moved, rows: [anOccurrence({ version: 2 })] }).say("2026-11-21T04:00");
    expect(own).toMatchObject({ version: 2, timezone: "UTC" });
    const [none] = await storing({ facts: moved, rows: [anOccurrence({ version: 7 })] }).say("2026-11-21T04:00");
    expect(none).toMatchObject({ version: 1, timezone: "America/New_York", localTime: "2026-11-21T09:00" });
  });

  test("of a row without a version are those in force at the row's instant, and not at the time asked for", async () => {
    const row = anOccurrence({ version: 7, nominalAt: nine + 45 * minute, localTime: "2026-11-21T04:00" });
    const [answer] = await storing({ facts: moved, rows: [row] }).say("2026-11-21T04:00");
    expect(answer).toMatchObject({ version: 2, occurrence: { nominalAt: row.nominalAt } });
  });

  test("a deleted schedule is named by its row in the ledger", async () => {
    const rows = [anOccurrence({ scheduleId: "gone" })];
    expect(await storing({ facts: { row: null }, rows }).say("09:00")).toMatchObject([{ schedule: "gone" }]);
    expect(await storing({ facts: { row: aRow({ id: "row" }) }, rows }).say("09:00")).toMatchObject([
      { schedule: "row" },
    ]);
  });
});

describe("what is known of its job", () => {
  test("the reason of the last event counts if that event led to the job's state", async () => {
    const sentence = async (...history: readonly Partial<HistoryRow>[]) => {
      const [answer] = await storing({ rows: [anOccurrence()], job: aJob({ state: "CANCELED" }), history }).say(
        "09:00",
      );
      return answer?.sentence ?? "";
    };
    expect(await sentence({ to: "CANCELED", reason: "why" })).toContain("(why)");
    expect(await sentence({ to: "RUNNING", reason: "why" })).not.toContain("(why)");
    expect(await sentence()).toContain("is CANCELED");
  });

  const decidedAt = nine - minute;
  test.each([
    ["overlap", decidedAt, "none", ["41", decidedAt, "overlap:"]],
    ["overlap", null, "none", ["41", now, "overlap:"]],
    ["lock-held", decidedAt, "slot", ["41", decidedAt, "lock:"]],
    ["lock-held", null, "none", ["41", now, "lock:"]],
    [null, decidedAt, "slot", ["41", now, ""]],
    [null, decidedAt, "none", null],
    ["misfire", decidedAt, "none", null],
  ] as const)("of one %s, decided at %s, hold %s, the holder is asked as %j", async (reason, at, hold, want) => {
    const row = anOccurrence({ outcome: reason === null ? "PLANNED" : "SKIPPED", reason, decidedAt: at });
    const { say, asked } = storing({ rows: [row], job: aJob({ hold, state: "PENDING", dueAt: now + 1 }) });
    await say("09:00");
    expect(asked.slice(1)).toEqual(want === null ? [] : [want]);
  });

  test("no holder is asked of a job that is not kept", async () => {
    const { say, asked } = storing({ rows: [anOccurrence({ outcome: "SKIPPED", reason: "overlap" })] });
    await say("09:00");
    expect(asked).toHaveLength(1);
  });

  test("a holder of a kind that may not be seen stays unnamed", async () => {
    const row = anOccurrence({ outcome: "SKIPPED", reason: "overlap" });
    const held = {
      rows: [row],
      job: aJob({ state: "SKIPPED" }),
      holder: aHolder({ kind: "secret", scheduleId: null }),
    };
    const said = async (sees: (kind: string) => boolean) => (await storing(held).say("09:00", sees))[0]?.sentence;
    expect(await said(() => true)).toContain("job 9 (secret)");
    expect(await said((kind) => kind !== "secret")).toContain("the job of an earlier time");
  });
});

describe("the row that one was merged into", () => {
  const into = "2026-11-21T09:30";
  const merged = anOccurrence({ outcome: "COALESCED", reason: `into ${into}`, jobId: null });
  const target = (over: Partial<OccurrenceView>) => anOccurrence({ localTime: into, nominalAt: nine + hour, ...over });
  const end = async (rows: readonly OccurrenceView[], facts: Partial<ScheduleFacts> = {}) => {
    const { say, asked } = storing({ rows: [merged, ...rows], facts });
    const [answer] = await say("09:00");
    return [/that one is (.*)$/.exec(answer?.sentence ?? "")?.[1], asked[1]];
  };

  test("is another reading of the same instant, before a later time that is not merged itself", async () => {
    const same = target({ nominalAt: nine, jobId: "1" as JobId });
    const later = target({ jobId: "2" as JobId });
    const of = ["s", [into]];
    expect(await end([later, same])).toEqual(["FIRED (job 1)", of]);
    expect(await end([later])).toEqual(["FIRED (job 2)", of]);
    expect(await end([target({ outcome: "COALESCED" }), later])).toEqual(["FIRED (job 2)", of]);
    expect(await end([target({ nominalAt: nine - 1, jobId: "3" as JobId }), later])).toEqual(["FIRED (job 2)", of]);
    expect(await end([target({ nominalAt: nine - 1 })])).toEqual([undefined, of]);
    expect(await end([])).toEqual([undefined, of]);
  });

  test("is not the row itself, when two passes of one reading are merged", async () => {
    const self = anOccurrence({ outcome: "COALESCED", reason: "into 2026-11-21T09:00" });
    const second = anOccurrence({ fold: 1, nominalAt: nine + hour, jobId: "2" as JobId });
    const [answer] = await storing({ rows: [self, second] }).say(new Date(nine).toISOString());
    expect(answer?.sentence).toContain("that one is FIRED (job 2)");
    // In winter the clock of London shows the same reading at the same instant.
    const sameClock = anOccurrence({ timezone: "Europe/London", jobId: "3" as JobId });
    const [other] = await storing({ rows: [self, sameClock, second] }).say(new Date(nine).toISOString());
    expect(other?.sentence).toContain("that one is FIRED (job 2)");
  });

  test("is looked for under the id of the schedule, or of the row when that was deleted", async () => {
    expect((await end([], { row: aRow({ id: "row" }) }))[1]).toEqual(["row", [into]]);
    expect((await end([], { row: null }))[1]).toEqual(["s", [into]]);
  });

  test("is not looked for without a reason that names it", async () => {
    const { say, asked } = storing({ rows: [anOccurrence({ reason: "overlap" }), anOccurrence({ reason: null })] });
    await say("09:00");
    expect(asked.filter((each) => String(each).startsWith("s,"))).toHaveLength(1);
  });
});
