import * as fc from "fast-check";
import { expect } from "vitest";
import { parseCron } from "../../src/calendar/cron.ts";
import { defineApp } from "../../src/define/define-app.ts";
import { defineJob } from "../../src/define/define-job.ts";
import type { Dst } from "../../src/calendar/fires.ts";
import type { JobId } from "../../src/machine/job.ts";
import type { TestStore } from "../support/looks.ts";
import { calendars, calendarsOf } from "./calendar-choices.ts";
import type { OccurrenceView, ScheduleRow, ScheduleSpec } from "../../src/machine/schedule.ts";
import { type RowByHand, rowsByHand, type Seen, watch } from "./clock.ts";
import { aSpec, hour, minute } from "./spec.ts";
import { type Ground, world } from "./world.ts";
import { aPause } from "../support/pause.ts";

/**
 * P4 as a property: whatever the expression, zone, rules, policy, outages of scheduler and workers, pauses, edits and
 * deletions, by code or through the API, the ledger is the expected set exactly, every past time is decided, and each fired time ran one job.
 */
const stretches = [
  ["UTC", Date.UTC(2026, 10, 21)],
  ["America/New_York", Date.UTC(2026, 2, 6, 17)],
  ["America/New_York", Date.UTC(2026, 9, 30, 17)],
  ["Australia/Lord_Howe", Date.UTC(2026, 3, 3)],
  ["Australia/Lord_Howe", Date.UTC(2026, 9, 2)],
  ["Pacific/Apia", Date.UTC(2011, 11, 29)],
  ["Asia/Seoul", Date.UTC(1988, 4, 6)],
  ["Africa/Casablanca", Date.UTC(2026, 1, 14)],
] as const;
const daysMax = 4;
/** No calendar here moves a time by more. */
const calendarDays = 10;

const watches = new Map<string, readonly Seen[]>();

function watched(zone: string, start: number): readonly Seen[] {
  const reach = calendarDays * 24 * hour;
  const known =
    watches.get(`${zone} ${start}`) ?? watch(zone, start - hour - reach, start + (daysMax + 2) * 24 * hour + reach);
  watches.set(`${zone} ${start}`, known);
  return known;
}

const minuteField = fc.oneof(
  fc.constantFrom("*", "*", "*/5", "0", "30", "15,45", "*/20", "0-10/5"),
  fc.integer({ min: 0, max: 59 }).map(String),
);
const hourField = fc.constantFrom("*", "*", "*/2", "0-3", "1,2", "2", "3", "0", "9", "23-2", "*/7");
const dayFields = fc.constantFrom("* * *", "* * *", "* * SUN", "*/2 * *", "* * SAT-MON", "L * *", "8 * 6");
const cron = fc.tuple(minuteField, hourField, dayFields).map((fields) => fields.join(" "));
const dst: fc.Arbitrary<Dst> = fc.record({
  gap: fc.constantFrom("auto" as const, "skip" as const, "shift" as const, "first-valid" as const),
  overlap: fc.constantFrom("auto" as const, "first" as const, "second" as const, "both" as const),
});
const policy = fc.record({
  dst,
  calendars: fc.oneof({ weight: 1, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: calendars }),
  misfire: fc.record({
    rule: fc.constantFrom("skip" as const, "latest" as const, "all" as const),
    maxAgeMs: fc.option(fc.constantFrom(hour, 12 * hour)),
    maxCount: fc.option(fc.integer({ min: 1, max: 50 })),
    paceMs: fc.constantFrom(1, 1_000, 30_000),
  }),
  overlap: fc.constantFrom("allow" as const, "skip" as const, "queue-one" as const, "queue-all" as const),
  enabled: fc.constantFrom(true, true, true, true, false),
  startDeadlineMs: fc.option(fc.constantFrom(30 * minute, 5 * hour)),
  offsetMs: fc.option(fc.constantFrom(0, 17 * minute + 42_000, 5 * hour)),
});
const step = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({ do: fc.constant("run" as const), minutes: fc.constantFrom(1, 2, 4, 60, 61, 400, 1_200) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("no scheduler" as const), minutes: fc.integer({ min: 1, max: 1_500 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("no workers" as const), minutes: fc.integer({ min: 1, max: 600 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("pause" as const), minutes: fc.integer({ min: 1, max: 300 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("edit" as const), cron, policy }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("delete" as const), outageMinutes: fc.constantFrom(0, 0, 45, 300) }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

export const histories = fc.record({
  stretch: fc.constantFrom(...stretches),
  cron,
  policy,
  madeBy: fc.constantFrom("code" as const, "api" as const),
  steps: fc.array(step, { minLength: 3, maxLength: 12 }),
  beatMinutes: fc.constantFrom(1, 3, 20),
});

export type History = typeof histories extends fc.Arbitrary<infer H> ? H : never;
type World = ReturnType<typeof world<TestStore>>;

/** A stretch of time in which one version of the schedule was in force: up to the edit, also during an outage. */
interface Era {
  readonly spec: ScheduleSpec;
  readonly after: number;
  readonly until: number;
}

const job = defineJob({ id: "work", run: () => {} });

/** Lives through one history, then lets everything that was planned become due and be worked off. */
export async function live<S extends TestStore>(history: History, ground: Ground<S>): Promise<void> {
  const [zone, start] = history.stretch;
  const specOf = (text: string, { startDeadlineMs, offsetMs, calendars: days, ...rules }: typeof history.policy) =>
    aSpec({
      ...rules,
      ...(days === null ? {} : { calendars: calendarsOf(days, start) }),
      ...(startDeadlineMs === null ? {} : { startDeadlineMs }),
      ...(offsetMs === null ? {} : { spread: { withinMs: 24 * hour, offsetMs } }),
      expression: { form: "cron", cron: text },
      timezone: zone,
    });
  const at = world([defineApp({ name: "test", jobs: [job] })], ground);
  const life = new Life(at, history.madeBy);
  await at.store.installSlots(slotGroups);
  await life.edit(specOf(history.cron, { ...history.policy, enabled: true }));
  const beat = { beatMs: history.beatMinutes * minute, end: start + daysMax * 24 * hour };
  for (const one of history.steps) {
    if (one.do === "edit") await life.edit(specOf(one.cron, one.policy));
    else if (one.do !== "delete") await pass(at, one, beat);
    else {
      await pass(at, { do: "no scheduler", minutes: one.outageMinutes }, beat);
      await life.end();
    }
  }
  await at.store.pauseSchedule("s", null);
  await at.advance(1);
  await at.tick();
  await drain(at);
  const rows = await at.ledger("s");
  const expected = expectedKeys(await life.eras(), watched(zone, start));
  expect(rows.map(keyOf).toSorted()).toEqual(expected.toSorted());
  expect(rows.filter((row) => row.outcome === "PLANNED")).toEqual([]);
  const left = life.isOver ? (await at.store.dueSchedules({ horizonMs: hour, limit: 1 })).schedules : [];
  expect([life.shown, left]).toEqual([[], []]);
  checkJobs(at.ran, rows);
  await checkTimes(at, rows);
  seen.rows += rows.length;
  seen.filled += Number(rows.length > 0);
  seen.spread += Number(rows.some(({ effectiveAt, nominalAt }) => (effectiveAt ?? 0) > nominalAt));
  seen.moved += Number(rows.some((row) => row.calendar !== null && row.outcome !== "SKIPPED"));
  for (const reason of ["deleted", "expired", "excluded"] as const)
    seen[reason] += Number(rows.some((row) => row.reason === reason));
}

/** The schedule's versions, and when each was in force. */
class Life {
  /** Deleted schedules that are still visible: none. */
  readonly shown: ScheduleRow[] = [];
  readonly #at: World;
  readonly #madeBy: History["madeBy"];
  readonly #ended: Era[] = [];
  #spec: ScheduleSpec | null = null;
  #after = 0;

  constructor(at: World, madeBy: History["madeBy"]) {
    this.#at = at;
    this.#madeBy = madeBy;
  }

  get isOver(): boolean {
    return this.#spec === null;
  }

  async edit(next: ScheduleSpec): Promise<void> {
    const { store } = this.#at;
    if (this.#madeBy === "code") await store.installSchedules([next]);
    else await (this.#spec === null ? store.createSchedule(next) : store.updateSchedule(next));
    if (JSON.stringify(next) !== JSON.stringify(this.#spec)) this.#begin(next);
  }

  async end(): Promise<void> {
    const { store } = this.#at;
    if (this.#madeBy === "code") await store.installSchedules([], { apps: ["test"] });
    else await store.deleteSchedule("s");
    this.shown.push(...(await store.schedules()));
    if (this.#spec !== null) this.#begin(null);
  }

  /** Also the last one, up to what the scheduler has decided. */
  async eras(): Promise<readonly Era[]> {
    const [row] = await this.#at.store.schedules();
    if (this.#spec === null) return this.#ended;
    if (row === undefined) throw new Error("the schedule is gone");
    return [...this.#ended, { spec: this.#spec, after: this.#after, until: row.decidedUntil }];
  }

  #begin(next: ScheduleSpec | null): void {
    const until = this.#at.now();
    if (this.#spec !== null) this.#ended.push({ spec: this.#spec, after: this.#after, until });
    [this.#spec, this.#after] = [next, until];
  }
}

/**
 * How much was compared, as a test that saw next to nothing proves nothing: rows, and histories with any, or with one of that
 * reason. Most rows are of a few long histories, so their number says little of how many there were.
 */
export const seen = { rows: 0, filled: 0, deleted: 0, expired: 0, excluded: 0, moved: 0, spread: 0 };

const slotGroups = [
  { key: "overlap:s", size: 1, onRefusal: "skip", reason: "overlap" },
  { key: "catchup:s", size: 1, onRefusal: "hold", reason: "slot" },
] as const;

async function pass(
  at: World,
  one: Exclude<Step, { do: "edit" | "delete" }>,
  { beatMs, end }: { beatMs: number; end: number },
) {
  await at.store.pauseSchedule("s", one.do === "pause" ? aPause : null);
  const until = Math.min(at.now() + one.minutes * minute, end);
  while (at.now() < until) {
    await at.advance(Math.min(beatMs, until - at.now()));
    if (one.do !== "no scheduler") await at.tick();
    if (one.do !== "no workers") await at.work();
  }
}

async function drain(at: World): Promise<void> {
  for (let round = 0; round < 2_000; round++) {
    await at.work();
    if ((await at.store.jobs({ states: ["PENDING", "QUEUED"] })).length === 0) return;
    await at.advance(10 * minute);
  }
  throw new Error("what was planned never ends");
}

const keyOf = (
  row: Pick<OccurrenceView, "localTime" | "fold" | "nominalAt"> & { readonly calendar?: string | null },
): string => `${row.localTime}/${row.fold} ${row.nominalAt} ${row.calendar ?? ""}`;

/**
 * A reading that an earlier version has decided is not decided again: after an edit of the gap rule within the hour of a
 * gap, the new rule may give the same reading a later instant.
 */
function expectedKeys(eras: readonly Era[], seen: readonly Seen[]): string[] {
  const named = new Map<string, string>();
  for (const era of eras) {
    for (const row of rowsOfEra(era, seen)) {
      const name = `${row.localTime}/${row.fold}`;
      if (!named.has(name)) named.set(name, keyOf(row));
    }
  }
  return [...named.values()];
}

function rowsOfEra({ spec, after, until }: Era, seen: readonly Seen[]): readonly RowByHand[] {
  // The times of a version that was off belong to no version.
  if (!spec.enabled) return [];
  const parsed = spec.expression.form === "cron" ? parseCron(spec.expression.cron) : null;
  if (parsed?.ok !== true) throw new Error("not a cron expression");
  // A reading is less than two days from its instant, also over the date line, unless a calendar moves it.
  const isNear = ({ reading }: Seen): boolean => reading > after - 48 * hour && reading < until + 48 * hour;
  const near = spec.calendars === undefined ? seen.filter(isNear) : seen;
  return rowsByHand(parsed.cron, spec.dst, near, spec.calendars).filter(
    (row) => row.nominalAt > after && row.nominalAt <= until,
  );
}

/**
 * By the deadline and the spread of the version that decided a time: what ran started before the one and not before the other,
 * from which lateness is counted; and what expired was looked at after it.
 */
async function checkTimes(at: World, rows: readonly OccurrenceView[]): Promise<void> {
  const facts = await at.store.scheduleFacts("s");
  const specs = new Map(facts?.versions.map(({ version, spec }) => [version, spec]));
  for (const { outcome, reason, version, latenessMs, nominalAt, effectiveAt, decidedAt } of rows) {
    const { spread, startDeadlineMs: deadline = Infinity } = specs.get(version) ?? {};
    if (reason === "expired") expect(latenessMs).toBeGreaterThanOrEqual(deadline);
    if (outcome !== "FIRED" && outcome !== "CAUGHT_UP") continue;
    expect(latenessMs).toBeLessThan(deadline);
    expect(effectiveAt).toBe(spread === undefined ? null : nominalAt + spread.offsetMs);
    expect(latenessMs).toBe((decidedAt ?? 0) - (effectiveAt ?? nominalAt));
  }
}

/** Fired and caught-up times ran exactly one job; merged, missed and skipped ones none. */
function checkJobs(ran: readonly JobId[], rows: readonly OccurrenceView[]): void {
  const fired = rows.filter((row) => row.outcome === "FIRED" || row.outcome === "CAUGHT_UP");
  expect(fired.map((row) => String(row.jobId)).toSorted()).toEqual([...ran].toSorted());
  expect(new Set(fired.map((row) => row.nominalAt)).size).toBe(fired.length);
  expect(
    rows
      .filter((row) => row.outcome === "COALESCED")
      .every((row) => row.jobId === null && row.reason?.startsWith("into ")),
  ).toBe(true);
  expect(rows.filter((row) => row.outcome === "SKIPPED").every((row) => row.reason !== null)).toBe(true);
}
