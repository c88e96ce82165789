import {
  readComing,
  readFailingSince,
  readLatestOccurrences,
  readOccurrenceEnds,
  searchSchedules,
} from "../../../../src/adapters/postgres/sql/schedule-outcome.ts";
import { jobRow, occurrenceRow, runRow, scheduleRow } from "../rows.ts";
import { send, at, put, type Row, withoutIndexes } from "../stage.ts";
import type { Tour, World } from "../tour.ts";

/** Schedules of every state, and occurrences that ended in every way, by their job or by the run that it started. */
export const scheduleOutcomes: Tour = { name: "schedule-outcomes", parts: [states, ends, latestOf, coming] };

const ofKind = (kind: string, lane = "default") => ({ job: { kind, lane } });

/** At each bound of late, paused and ended, and a millisecond to each side; `z` before `a` in the table. */
const schedules = [
  scheduleRow("z-active", { spec: ofKind("One") }),
  scheduleRow("y-late", { next_at: at(-90_001), app: "other", spec: ofKind("two") }),
  scheduleRow("x-not-late", { next_at: at(-90_000), spec: { ...ofKind("two"), timezone: "Asia/Seoul" } }),
  scheduleRow("w-late-paused", { next_at: at(-100_000), paused_until: "infinity", spec: ofKind("three") }),
  scheduleRow("v-pause-ended", { paused_until: at(0), next_at: at(61_000) }),
  scheduleRow("u-paused", { paused_until: at(1), paused_by: "ada", pause_reason: "rain", paused_at: at(-1_000) }),
  scheduleRow("t-off", { enabled: false, next_at: null }),
  scheduleRow("s-off-late", { enabled: false, next_at: at(-100_000) }),
  scheduleRow("r-ended", { next_at: null }),
  scheduleRow("q-removed", { removed_at: at(-1_000), next_at: at(-100_000) }),
  scheduleRow("p-early", { next_at: at(30_000), spec: { materializeBeforeMs: 600_000 } }),
  scheduleRow("o-early", { next_at: at(90_000), spec: { materializeBeforeMs: 1_000 } }),
  scheduleRow("n-off-paused", { enabled: false, paused_until: "infinity" }),
  scheduleRow("m-ended-paused", { next_at: null, paused_until: "infinity" }),
  scheduleRow("l-active"),
  scheduleRow("b-same-time", { next_at: at(61_000), spec: { materializeBeforeMs: 0 } }),
  scheduleRow("a-same-time", { next_at: at(61_000) }),
  ...["k", "a", "x", "c"].map((id) => scheduleRow(`${id}-late`, { next_at: at(-100_000) })),
];

const searches = [
  {},
  ...["failing", "late", "paused", "off", "ended", "active"].map((state) => ({ state })),
  { id: "y-late" },
  { kind: "two" },
  { kinds: ["two", "three"] },
  { app: "other" },
  { zone: "Asia/Seoul" },
  { words: ["LATE", "TWO"] },
  { words: ["one"] },
  { words: ["other"] },
  { words: ["stage", "ended"] },
  { lateOverMs: 200 },
  { state: "failing", lateOverMs: 200 },
];

/** What is searched for, by which sort and from whose ends, with the bounds of the search. */
async function search(
  world: World,
  wanted: object,
  [sort, ends]: readonly [string, string],
  {
    page = [100, 0],
    looks = 8,
    most = [100, 100],
    latest = [100, 100],
  }: { page?: number[]; looks?: number; most?: number[]; latest?: number[] } = {},
): Promise<void> {
  await send(world, searchSchedules, [JSON.stringify(wanted), sort, ...page, ends, looks, ...most, ...latest]);
}

async function states(world: World): Promise<void> {
  await put(world.pool, "schedule", schedules);
  for (const wanted of searches) await search(world, wanted, ["next", "none"]);
  for (const sort of ["id", "next", "lateness", "failing"]) await search(world, {}, [sort, "none"], { page: [3, 2] });
}

/** What became of a time: the state of its job, null for one that is pruned, then the states of the runs it started. */
const becameOf: readonly (readonly [job: string | null, ...runs: string[]])[] = [
  ["SUCCESS"],
  ["FAILED"],
  ["CANCELED"],
  ["SKIPPED"],
  ["PENDING"],
  ["QUEUED"],
  ["RUNNING"],
  ["RETRY_WAIT"],
  ["SUCCESS", "RUNNING"],
  ["SUCCESS", "CANCELING"],
  ["SUCCESS", "DONE"],
  ["SUCCESS", "FAILED"],
  ["SUCCESS", "CANCELED"],
  ["FAILED", "DONE"],
  ["FAILED", "FAILED", "DONE"],
  ["SUCCESS", "DONE", "FAILED"],
  [null],
  [null, "DONE"],
  [null, "FAILED"],
];

/** Of each a schedule: what became of its newest time, which is now, after older ones that went another way. */
function ended() {
  const jobs: Row[] = [];
  const runs: Row[] = [];
  const occurrences: Row[] = [];
  let next = 0;
  const add = (schedule: string, ms: number, [job, ...of]: (typeof becameOf)[number], lateness: number | null) => {
    next += 1;
    const failed = { error_code: `BAD_${next}`, error_message: `no ${next}` };
    if (job !== null)
      jobs.push(
        jobRow(next, {
          state: job,
          schedule_id: next % 3 === 0 ? null : schedule,
          failures: next % 2,
          attempt: 2,
          started_at: at(ms - 700),
          ...(["FAILED", "RETRY_WAIT"].includes(job) ? failed : {}),
          ...(["SUCCESS", "FAILED", "CANCELED", "SKIPPED"].includes(job) ? { finished_at: at(ms + next) } : {}),
        }),
      );
    for (const [n, state] of of.entries())
      runs.push(
        runRow(100 - 2 * next + n, {
          state,
          starter_id: 1_000 + next,
          failed: n,
          error: n === 0 ? null : "its starter is gone",
          created_at: at(ms - 300 - n),
          ...(["DONE", "FAILED", "CANCELED"].includes(state) ? { finished_at: at(ms + 2 * next + n) } : {}),
        }),
      );
    occurrences.push(occurrenceRow(schedule, ms, { job_id: 1_000 + next, lateness_ms: lateness }));
  };
  for (const [n, became] of becameOf.entries()) {
    const schedule = `of-${String.fromCharCode(122 - n)}`;
    add(schedule, 1, n % 2 === 0 ? ["FAILED"] : ["SUCCESS"], 900);
    add(schedule, 0, became, n % 4 === 0 ? null : 190 + n);
  }
  const again = becameOf.slice(0, 12);
  for (const [n, became] of again.entries()) {
    const schedule = `of-${String.fromCharCode(122 - n)}`;
    add(schedule, -1_000, [n % 2 === 0 ? "FAILED" : "SUCCESS"], 300 + n);
    add(schedule, -2_000, [n % 3 === 0 ? "SUCCESS" : "FAILED"], 100 + n);
    add(schedule, -3_000, became, 500 + n);
    occurrences.push(occurrenceRow(schedule, -500, { outcome: "SKIPPED", lateness_ms: 800 }));
  }
  return { jobs, runs, occurrences, last: next };
}

/** By so many failures as there are, one more and fewer. */
async function searchEnds(world: World, failures: number, failedRuns: number): Promise<void> {
  for (const bounds of [{}, { most: [3, 1], looks: 1 }, { most: [failures, 5], looks: 2 }]) {
    for (const by of [
      ["failing", "failing"],
      ["lateness", "latest"],
      ["id", "none"],
    ] as const)
      await search(world, {}, by, bounds);
    await search(world, { state: "failing" }, ["id", "failing"], bounds);
    await search(world, { lateOverMs: 200 }, ["id", "latest"], bounds);
  }
  for (const most of [
    [0, 1],
    [0, 2],
    [1, 0],
    [failures, 1_000],
    [failures + 1, 1_000],
    [1_000, failedRuns],
    [1_000, failedRuns + 1],
  ])
    await search(world, { state: "failing" }, ["id", "failing"], { most });
  for (const wanted of [{ state: "failing" }, { state: "failing", lateOverMs: 200 }])
    await search(world, wanted, ["lateness", "failing"]);
  const schedules = becameOf.length;
  for (const judged of [1, 3, schedules - 1, schedules, schedules + 1])
    for (const decisions of [1, 2, 7, 20, 100])
      for (const wanted of [{}, { lateOverMs: 200 }])
        await search(world, wanted, ["lateness", "latest"], { latest: [judged, decisions] });
}

async function ends(world: World): Promise<void> {
  const { jobs, runs, occurrences, last } = ended();
  const ids = becameOf.map((_, n) => `of-${String.fromCharCode(122 - n)}`);
  await put(
    world.pool,
    "schedule",
    ids.map((id, n) => scheduleRow(id, { next_at: at(n % 3 === 0 ? -100_000 : minuteOf(n)) })),
  );
  await put(world.pool, "job", jobs);
  await put(world.pool, "run", runs);
  await put(world.pool, "occurrence", occurrences);
  await put(world.pool, "history", historyOf(last));
  await searchEnds(
    world,
    jobs.filter((job) => job["state"] === "FAILED").length,
    runs.filter((run) => run["state"] === "FAILED").length,
  );
  const jobIds = Array.from({ length: last + 1 }, (_, n) => 1_000 + n);
  await send(world, readOccurrenceEnds, [jobIds]);
  for (const each of [1, 2, 10]) {
    await send(world, readLatestOccurrences, [[...ids, "none"], each]);
    await send(world, readFailingSince, [[...ids, "none"], each]);
  }
}

const minuteOf = (n: number): number => (20 - n) * 60_000;

/** Two moves of each job, and one of a job that is gone. */
const historyOf = (last: number) =>
  Array.from({ length: 2 * last }, (_, n) => ({
    id: 5_000 - n,
    job_id: 1_000 + (n % last),
    at: at(-n),
    to_state: "CANCELED",
    attempt: 0,
    generation: 1,
    reason: `reason ${n}`,
  }));

/** More schedules than are judged: those whose newest start was latest, not those with a later time that started nothing. */
async function latestOf(world: World): Promise<void> {
  await withoutIndexes(world);
  await put(world.pool, "schedule", [
    ...["a", "b", "c", "d", "e"].map((id) => scheduleRow(id)),
    scheduleRow("f-two", { spec: ofKind("two") }),
    scheduleRow("g-removed", { removed_at: at(-1) }),
  ]);
  const started = [
    ["a", -9, 100],
    ["b", -8, null],
    ["c", -7, 300],
    ["d", -6, 200],
    ["e", -5, 250],
    ["f-two", -4, 400],
    ["g-removed", -3, 500],
  ] as const;
  const jobs = started.map(([schedule], n) => jobRow(n, { state: "FAILED", schedule_id: schedule }));
  await put(world.pool, "job", jobs);
  await put(world.pool, "occurrence", [
    ...started.map(([schedule, ms, lateness], n) =>
      occurrenceRow(schedule, ms, { job_id: 1_000 + n, lateness_ms: lateness }),
    ),
    occurrenceRow("a", -2, { outcome: "SKIPPED", lateness_ms: 900 }),
    occurrenceRow("c", -1, { outcome: "SKIPPED", lateness_ms: 1 }),
    occurrenceRow("e", -1, { outcome: "PLANNED", lateness_ms: 800 }),
  ]);
  for (const judged of [0, 1, 2, 3, 5, 6, 7])
    for (const decisions of [3, 5, 100])
      for (const wanted of [{}, { kinds: ["stage"] }]) {
        await search(world, wanted, ["lateness", "latest"], { latest: [judged, decisions] });
        await search(world, wanted, ["failing", "failing"], { latest: [judged, decisions], most: [2, 1] });
      }
}

/** Schedules with times to come: undecided ones, or the last one decided and waiting. */
async function coming(world: World): Promise<void> {
  await withoutIndexes(world);
  await put(world.pool, "schedule", [
    ...schedules,
    scheduleRow("k-mail", { app: "other", spec: ofKind("two", "mail"), next_at: at(60_000) }),
    scheduleRow("j-last", { next_at: null, spec: ofKind("two", "mail") }),
    scheduleRow("i-last-off", { next_at: null, enabled: false }),
    scheduleRow("h-last-removed", { next_at: null, removed_at: at(-1) }),
    scheduleRow("g-last-two", { next_at: null, app: "other" }),
    scheduleRow("f-last-past", { next_at: null }),
    scheduleRow("e-last-fired", { next_at: null }),
  ]);
  await put(world.pool, "occurrence", [
    occurrenceRow("z-active", 5_000, { outcome: "PLANNED" }),
    occurrenceRow("g-last-two", 3_000, { outcome: "PLANNED" }),
    occurrenceRow("g-last-two", 2_000, { outcome: "PLANNED" }),
    occurrenceRow("j-last", 1, { outcome: "PLANNED" }),
    occurrenceRow("i-last-off", 1_000, { outcome: "PLANNED" }),
    occurrenceRow("h-last-removed", 1_000, { outcome: "PLANNED" }),
    occurrenceRow("f-last-past", 0, { outcome: "PLANNED" }),
    occurrenceRow("e-last-fired", 4_000),
  ]);
  for (const wanted of [{}, { app: "other" }, { kinds: ["two"] }, { lane: "mail" }, { lane: "mail", app: "stage" }])
    for (const limit of [1, 2, 3, 4, 100]) await send(world, readComing, [JSON.stringify(wanted), limit]);
}
