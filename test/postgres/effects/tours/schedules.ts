import { insertSchedule, readVersions } from "../../../../src/adapters/postgres/sql/schedule-control.ts";
import type { PlannedSchedule, ScheduleSpec } from "../../../../src/core/ports/schedule.ts";
import type { NewPause } from "../../../../src/core/ports/pause.ts";
import { aJob, minute } from "../../../contract/store/fixture.ts";
import { aSpec, occurrenceAt } from "../../../contract/store/schedule-fixture.ts";
import { jobRow, occurrenceRow, scheduleRow } from "../rows.ts";
import { send, at, start, put, type Row, withoutIndexes } from "../stage.ts";
import type { Tour, World } from "../tour.ts";

/** Schedules of every state are installed, removed, made, paused, deleted, planned and read. */
export const schedules: Tour = { name: "schedules", parts: [installed, made, deleted, planned, due] };

const carries = [
  null,
  { missed: 2, missedUntil: 5, catchUpUntil: null },
  { missed: 1, missedUntil: null, catchUpUntil: 7, edited: true },
];

/** Enabled or not, before, at and after now, with each carry, of code or of people, removed or not. */
const everyState = (prefix: string): Row[] =>
  [true, false].flatMap((enabled) =>
    carries.flatMap((carry, c) =>
      [-1, 0, 1].flatMap((decided) =>
        [null, at(-5_000)].map((removed) => {
          const id = `${prefix}-${enabled ? "on" : "off"}-${c}-${decided + 1}-${removed === null ? "here" : "gone"}`;
          return scheduleRow(id, {
            enabled,
            carry,
            decided_until: at(decided),
            removed_at: removed,
            source: (c + decided) % 2 === 0 ? "code" : "api",
            paused_until: "infinity",
            paused_by: "ada",
            version: 3,
            spec: aSpec({ id, app: "stage", enabled }),
          });
        }),
      ),
    ),
  );

const idsOf = (rows: readonly Row[]): string[] => rows.map((row) => String(row["id"]));

const versionsOf = (ids: readonly string[], versions: readonly number[]): Row[] =>
  ids.flatMap((id) =>
    versions.map((version) => ({ schedule_id: id, version, spec: { version }, from_at: at(-60 * minute + version) })),
  );

async function installed(world: World): Promise<void> {
  const { pool, store } = world;
  const [kept, same, gone] = [everyState("kept"), everyState("same"), everyState("gone")];
  const lost = ["lost-here", "lost-late"].map((id) => scheduleRow(id, { app: "other" }));
  await put(pool, "schedule", [...gone, ...same, ...kept, ...lost]);
  await put(pool, "schedule_version", [
    ...versionsOf(idsOf(kept), [3, 1]),
    ...versionsOf(["new-on", "new-off"], [9, 2, 4]),
    ...versionsOf(["kept-on-0-0-here", "gone-on-0-0-here"], [4]),
  ]);
  const specs: ScheduleSpec[] = [
    ...idsOf(kept).flatMap((id, n) => [aSpec({ id, app: "moved", enabled: n % 4 < 2, overlap: "skip" })]),
    ...same.map((row) => row["spec"] as ScheduleSpec),
    aSpec({ id: "new-on", app: "stage" }),
    aSpec({ id: "new-off", app: "stage", enabled: false }),
    aSpec({ id: "alone", app: "stage" }),
  ];
  await store.installSchedules(specs, { apps: ["third"] });
  for (const limit of [2, 3])
    for (const id of ["new-on", "gone-on-0-0-gone"]) await send(world, readVersions, [id, limit]);
}

async function made(world: World): Promise<void> {
  const { pool, store } = world;
  const known = everyState("known");
  await put(pool, "schedule", known);
  await put(pool, "schedule_version", versionsOf(["new-on", "new-off"], [9, 2, 4]));
  const specs = [...idsOf(known).filter((id) => id.includes("-0-")), "new-on", "new-off", "new"];
  for (const [n, id] of specs.entries())
    await send(world, insertSchedule, [
      JSON.stringify(aSpec({ id, app: "api", enabled: n % 2 === 0, overlap: "skip" })),
    ]);
  const until = start + minute;
  const pauses: readonly (NewPause | null)[] = [
    { by: "ada", reason: "rain", until: null },
    { by: "bob", reason: "rain", until: null },
    { by: "bob", reason: "snow", until: null },
    { by: "bob", reason: "snow", until },
    { by: "eve", reason: "snow", until },
    { by: "eve", reason: "snow", until: until + 1 },
    { by: "eve", reason: null, until: until + 1 },
    null,
    null,
  ];
  for (const id of ["known-on-0-0-here", "known-on-1-0-gone", "none"])
    for (const pause of pauses) await store.pauseSchedule(id, pause);
  for (const id of ["known-on-0-0-here", "known-on-1-0-gone", "none"]) await store.scheduleFacts(id);
}

/** Times before, at and after now, PLANNED or decided, with a job that waits, runs, ended or never was. */
const timesOf = (schedule: string, first: number): { readonly jobs: Row[]; readonly occurrences: Row[] } => {
  const all = [-1_000, 0, 1, 5_000].flatMap((ms) =>
    ["PENDING", "QUEUED", "RUNNING", "SUCCESS", null].flatMap((state) =>
      ["PLANNED", "FIRED", "SKIPPED"].map((outcome) => ({ ms, state, outcome })),
    ),
  );
  const rows = all.map((one, n) => ({ ...one, id: first - n, ms: one.ms === 0 ? 0 : one.ms + n }));
  return {
    jobs: rows.flatMap(({ id, state }) => (state === null ? [] : [jobRow(id, { state, schedule_id: schedule })])),
    occurrences: rows.map(({ id, ms, state, outcome }) =>
      occurrenceRow(schedule, ms, {
        // One row of an instant at most is in force.
        outcome: ms === 0 && (outcome !== "PLANNED" || state !== "PENDING") ? "COALESCED" : outcome,
        local_time: `n-${id}`,
        job_id: state === null ? null : 1_000 + id,
      }),
    ),
  };
};

async function deleted({ pool, store }: World): Promise<void> {
  const ids = ["of-api", "of-code", "edited", "beside"];
  await put(pool, "schedule", [
    ...ids.map((id) =>
      scheduleRow(id, { source: id === "of-code" ? "code" : "api", decided_until: at(-1), version: 2 }),
    ),
    scheduleRow("decided", { source: "api", decided_until: at(minute) }),
  ]);
  for (const [n, id] of ids.entries()) {
    const { jobs, occurrences } = timesOf(id, 900 - 100 * n);
    await put(pool, "job", jobs);
    await put(pool, "occurrence", occurrences);
  }
  await store.updateSchedule(aSpec({ id: "edited", app: "api" }), { ifVersions: [1] });
  await store.updateSchedule(aSpec({ id: "edited", app: "api" }), { ifVersions: [1, 2] });
  await store.updateSchedule(aSpec({ id: "edited", app: "api" }));
  await store.deleteSchedule("of-code");
  await store.deleteSchedule("of-code", { ofCode: true });
  await store.deleteSchedule("of-api");
  await store.deleteSchedule("decided");
  await store.createSchedule(aSpec({ id: "of-api", app: "api" }));
  await store.installSchedules([], { apps: ["stage"] });
  await store.endRemovals();
  for (const limit of [1, 10, 10]) await store.cancelRemoved({ limit });
  await store.endRemovals();
}

/** A plan, with what its schedule is: removed, and decided until so much after the start. */
interface Planned extends PlannedSchedule {
  readonly removed?: boolean;
  readonly at?: number;
}

const plan = (scheduleId: string, over: Partial<Planned> = {}): Planned => ({
  scheduleId,
  version: 1,
  decidedUntil: start + minute,
  nextAt: start + 2 * minute,
  occurrences: [],
  ...over,
});

const window = 60_000;

/** Jobs due before, at and after the window, in two lanes, late ones, and times that have a row already. */
const times = (n: number) => [
  ...[-1_000, 0, window - 1, window, window + 1, 5 * window].map((ms, i) =>
    occurrenceAt(start + ms, {
      localTime: `t-${9 - i}`,
      isCatchUp: i === 0,
      missedCount: i,
      job: aJob({
        dueAt: start + ms,
        lane: (n + i) % 2 === 0 ? "default" : "mail",
        slotKeys: ["b", "a"],
        expiresAt: i === 1 ? start + 9_000 : null,
      }),
      ...(i === 2 ? { version: 7 } : {}),
    }),
  ),
  occurrenceAt(start + 11, { localTime: "delayed", job: aJob({ delayMs: window }) }),
  occurrenceAt(start + 12, { localTime: "later", job: aJob({ delayMs: window + 1, dueAt: start }) }),
  occurrenceAt(start + 13, { localTime: "skipped", outcome: "SKIPPED", reason: "overlap", job: null }),
  occurrenceAt(start + 14, { localTime: "coalesced", outcome: "COALESCED", job: null }),
  occurrenceAt(start + 15, { localTime: "known" }),
  occurrenceAt(start + 16, { localTime: "other" }),
  // Of those with one instant the first is written: by reading, fold and zone.
  ...[17, 17].map((ms, i) => occurrenceAt(start + ms, { localTime: `one-${1 - i}`, missedCount: i })),
  ...[18, 18].map((ms, i) => occurrenceAt(start + ms, { localTime: "fold", fold: i === 0 ? 1 : 0, missedCount: i })),
  ...["UTC", "Asia/Seoul"].map((timezone, i) =>
    occurrenceAt(start + 19, { localTime: "zone", timezone, missedCount: i }),
  ),
];

async function planned({ pool, store }: World): Promise<void> {
  const until = start + minute;
  const plans: readonly Planned[] = [
    plan("z", { occurrences: times(0) }),
    plan("y", { decidedFrom: until, at: minute, carry: { missed: 1, missedUntil: null, catchUpUntil: null } }),
    plan("x", { decidedFrom: until - 1, at: minute, occurrences: times(1) }),
    plan("w", { decidedFrom: until + 1, at: minute, occurrences: times(1) }),
    plan("v", { version: 2, occurrences: times(0) }),
    plan("u", { at: minute + 1, occurrences: times(1).slice(0, 3) }),
    plan("t", { at: minute - 1 }),
    plan("s", { nextAt: null }),
    plan("r", { nextAt: null, removed: true, occurrences: times(0).slice(8) }),
    plan("q", { removed: true, at: minute }),
    plan("p", { at: minute + 1, nextAt: null, removed: true }),
  ];
  const here = plans.map(({ scheduleId, removed = false, at: decided = 0 }) =>
    scheduleRow(scheduleId, { decided_until: at(decided), removed_at: removed ? at(-1) : null, carry: { missed: 4 } }),
  );
  await put(pool, "schedule", [...here, scheduleRow("beside"), scheduleRow("beside-removed", { removed_at: at(-1) })]);
  await put(pool, "occurrence", [
    occurrenceRow("z", 15, { local_time: "known" }),
    occurrenceRow("z", 16, { local_time: "another" }),
  ]);
  await store.plan([...plans, plan("none", { occurrences: times(0) })], { dispatchWindowMs: window });
  await store.plan([plan("s", { decidedUntil: until + minute, occurrences: times(1).slice(4, 5) })]);
  await store.plan([plan("s", { decidedUntil: until + minute, occurrences: times(1).slice(8, 9) })]);
}

async function due(world: World): Promise<void> {
  const { pool, store } = world;
  await withoutIndexes(world);
  const nextAt = [null, -minute, 0, 999, 1_000, 1_001, 1_000, -minute, 5_000];
  await put(
    pool,
    "schedule",
    nextAt.map((ms, n) =>
      scheduleRow(`due-${9 - n}`, {
        next_at: ms === null ? null : at(ms),
        removed_at: n % 4 === 1 ? at(-1) : null,
        enabled: n % 2 === 0,
        paused_until: n % 3 === 0 ? at(n) : null,
        carry: { missed: n },
      }),
    ),
  );
  for (const limit of [1, 2, 5, 100]) await store.dueSchedules({ horizonMs: 1_000, limit });
  await store.dueSchedules({ horizonMs: -10 * minute, limit: 10 });
  for (const after of [undefined, "due-4", "due-9"])
    for (const limit of [2, 100]) await store.schedules({ after, limit });
}
