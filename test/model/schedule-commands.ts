import { array, boolean, constant, constantFrom, integer, nat, option, tuple, type Arbitrary } from "fast-check";
import type { PlannedSchedule, ScheduleSpec } from "../../src/machine/schedule.ts";
import { aJob, minute, dispatchWindowMs } from "../contract/store/fixture.ts";
import { aSpec, occurrenceAt } from "../contract/store/schedule-fixture.ts";
import type { Pair } from "./pair.ts";
import type { TestStore } from "../support/looks.ts";
import { movedRows, passStep, step, type Step } from "./step.ts";

/** One of code and one of people. */
export const scheduleIds = ["every-minute", "by-people"] as const;
const scheduleId = constantFrom(...scheduleIds);
const eve = { id: "eve", dates: ["2026-01-31"], weekdays: [], yearly: [] };
const change = constantFrom<Partial<ScheduleSpec>>(
  {},
  { overlap: "skip" },
  { enabled: false },
  { materializeBeforeMs: 5 * minute },
  { calendars: { except: [eve], only: null, onExcluded: "next" } },
);

const install = tuple(change, boolean()).map(([over, isGone]) =>
  step(isGone ? "the code has no schedule" : `install the schedule ${JSON.stringify(over)}`, (pair) =>
    pair.both((store) => store.installSchedules(isGone ? [] : [aSpec(over)], { apps: ["capsule"] })),
  ),
);

const create = change.map((over) =>
  step(`people create a schedule ${JSON.stringify(over)}`, (pair) =>
    pair.both((store) => store.createSchedule(aSpec({ id: "by-people", app: "people", ...over }))),
  ),
);

const update = tuple(change, option(integer({ min: 1, max: 3 }))).map(([over, version]) =>
  step(`people change a schedule ${JSON.stringify(over)} at ${version}`, (pair) =>
    pair.both((store) => {
      const spec = aSpec({ id: "by-people", app: "people", ...over });
      return store.updateSchedule(spec, version === null ? {} : { ifVersions: [version] });
    }),
  ),
);

const pause = tuple(scheduleId, constantFrom("resume", "pause", "until")).map(([id, what]) =>
  step(`${what} ${id}`, async (pair) => {
    const until = what === "until" ? (await pair.oracle.now()) + minute : null;
    const wanted = what === "resume" ? null : { by: "ana", reason: null, until };
    await pair.both((store) => store.pauseSchedule(id, wanted));
  }),
);

const remove = tuple(scheduleId, boolean()).map(([id, ofCode]) =>
  step(`delete ${id}`, (pair) => pair.both((store) => store.deleteSchedule(id, { ofCode }))),
);

/** The stored version, or the one before it, which a tick may still have in its hands. */
async function versionOf(pair: Pair, id: string, behind: number): Promise<number> {
  const facts = await pair.oracle.scheduleFacts(id);
  return Math.max(1, (facts?.versions.at(-1)?.version ?? 1) - behind);
}

const plan = tuple(
  scheduleId,
  constantFrom(0, 0, 0, 1),
  integer({ min: -3, max: 12 }),
  constantFrom("punctual", "caught up", "caught up", "skipped", "excluded", "moved", "ahead"),
  boolean(),
).map(([id, behind, minutes, how, isLast]) =>
  passStep(`plan ${id}, ${behind} versions behind, ${minutes} minutes from now, ${how}`, async (pair) => {
    const now = await pair.oracle.now();
    const version = await versionOf(pair, id, behind);
    const nominalAt = Math.ceil(now / minute) * minute + minutes * minute;
    const isCatchUp = how === "caught up";
    const dueAt = how === "ahead" ? Math.min(now, nominalAt) : nominalAt;
    const slotKeys = isCatchUp ? ["cap:a"] : [];
    const job = aJob({ kind: "sweep", dueAt, payload: pair.mark(), slotKeys });
    const left = { outcome: "SKIPPED", reason: how === "skipped" ? "misfire" : "excluded", job: null } as const;
    const day = how === "excluded" || how === "moved" ? { calendar: "eve: 2026-01-31" } : {};
    const one = occurrenceAt(nominalAt, { isCatchUp, job, ...(/skip|excl/.test(how) ? left : {}), ...day });
    const decidedUntil = Math.max(now, nominalAt);
    const planned: PlannedSchedule = {
      scheduleId: id,
      version,
      decidedUntil,
      nextAt: isLast ? null : decidedUntil + minute,
      occurrences: [one],
      carry: isCatchUp ? { missed: 1, missedUntil: null, catchUpUntil: now } : null,
    };
    await pair.both((store) => store.plan([planned]));
  }),
);

const backfill = tuple(scheduleId, array(integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 3 })).map(
  ([id, minutes]) =>
    step(`backfill ${id} ${minutes.join()}`, async (pair) => {
      const now = Math.floor((await pair.oracle.now()) / minute) * minute;
      const version = await versionOf(pair, id, 0);
      const times = [...new Set(minutes)].map((ago) => {
        const job = aJob({ kind: "sweep", payload: pair.mark(), slotKeys: ["cap:a"] });
        return { version, occurrence: occurrenceAt(now - ago * minute, { isCatchUp: true, job }) };
      });
      await pair.both((store) => store.backfill(id, times, { paceMs: 10_000, slotKey: "cap:a" }));
    }),
);

const chain = { form: "after", schedule: "every-minute", withinMs: 2 * minute, on: "success" } as const;

/** Another minute of the leader, and what a tick reads of its chain, with rows for all of it. */
const follow = tuple(constantFrom(1, 100), constantFrom("PLANNED", "SKIPPED")).map(([timesMax, outcome]) =>
  step(`follow ${timesMax} times, the last of them ${outcome}`, async (pair) => {
    await pair.both((store) => store.installSchedules([aSpec()], { apps: ["capsule"] }));
    await pair.both((store) => store.createSchedule(aSpec({ id: "by-people", app: "people", expression: chain })));
    const none = { decidedUntil: await pair.oracle.now(), nextAt: null, occurrences: [], carry: null };
    const chained = { scheduleId: "by-people", version: await versionOf(pair, "by-people", 0), ...none };
    await pair.both((store) => store.plan([chained]));
    await pair.advance(minute);
    const decidedUntil = Math.floor((await pair.oracle.now()) / minute) * minute;
    const job = aJob({ kind: "sweep", dueAt: decidedUntil, payload: pair.mark() });
    const left = outcome === "SKIPPED" ? { outcome, reason: "misfire", job: null } : {};
    const scheduleId = "every-minute";
    const leader = { scheduleId, version: await versionOf(pair, scheduleId, 0), decidedUntil, carry: null };
    const own = [occurrenceAt(decidedUntil, { job, ...left })];
    await pair.both((store) => store.plan([{ ...leader, nextAt: decidedUntil + minute, occurrences: own }]));
    const read = async (store: TestStore) => (await store.chains({ ids: ["by-people"], timesMax })).chains;
    await pair.both(async (store) => (await read(store)).map(({ row: { spec }, ...page }) => ({ ...page, spec })));
    for (const { row, times, until } of await read(pair.oracle)) {
      const occurrences = times.map(({ nominalAt }) =>
        occurrenceAt(nominalAt, { job: aJob({ kind: "sweep", payload: pair.mark() }) }),
      );
      const { id, version } = row;
      const planned = { scheduleId: id, version, decidedUntil: until, nextAt: null, occurrences, carry: null };
      await pair.both((store) => store.plan([planned]));
    }
  }),
);

const decide = constant(
  passStep("decide what was written ahead, and cancel what removals left", (pair) =>
    pair.both(async (store) => ({
      ...(await store.decidePrematerialized({ limit: 100 })),
      canceled: movedRows(await store.cancelRemoved({ limit: 1_000 })),
      left: [await store.endRemovals(), await store.removedJobs(9)],
    })),
  ),
);

const due = constant(
  step("due schedules", (pair) => pair.both((store) => store.dueSchedules({ horizonMs: dispatchWindowMs, limit: 5 }))),
);

const facts = tuple(scheduleId, nat(5)).map(([id, minutes]) =>
  step(`facts of ${id}`, async (pair) => {
    const now = await pair.oracle.now();
    await pair.both((store) => store.scheduleFacts(id));
    await pair.both((store) => store.occurrencesBetween(id, now - minutes * minute, now + minute, 100));
  }),
);

/** What code, people and a tick do to schedules. */
export const scheduleSteps: readonly Arbitrary<Step>[] = [
  install,
  install,
  create,
  update,
  pause,
  remove,
  plan,
  plan,
  plan,
  backfill,
  follow,
  decide,
  due,
  facts,
];

/** What moves schedules that exist, and their jobs. */
export const scheduleMoves: readonly Arbitrary<Step>[] = [plan, plan, update, pause, remove, decide];

/** A schedule of code and one of people, planned. */
export const schedulesUnderWay: readonly Arbitrary<Step>[] = [install, create, plan, plan];
