import {
  decideBeforeChange,
  decidePrematerialized,
  findPrematerialized,
  freeWithdrawnKeys,
  withdrawPrematerialized,
} from "../../../../src/adapters/postgres/sql/prematerialized.ts";
import { jobRow, occurrenceRow, runRow, scheduleRow } from "../rows.ts";
import { send, at, put, type Row } from "../stage.ts";
import type { Tour, World } from "../tour.ts";

/** Runs written before their time: decided when it comes, found and withdrawn by an edit, their keys freed. */
export const prematerialized: Tour = { name: "prematerialized", parts: [decided, found, withdrawn, freed] };

const schedules = [
  scheduleRow("goes-on"),
  scheduleRow("paused", { paused_until: "infinity" }),
  scheduleRow("pause-ends", { paused_until: at(0) }),
  scheduleRow("pause-ends-then", { paused_until: at(1) }),
];

const starters = ["SUCCESS", "CANCELED", "RUNNING", null] as const;

/** A slot that the run holds, one that its starter still has, and the seat for waiting; of each starter, and of no run. */
const slotsOf = (starter: number, key: string): Row[] => [
  { key, n: 0, job_id: starter },
  { key, n: 1, job_id: starter, free_from: at(5) },
  { key, n: 2, job_id: starter, attempt: 1, free_from: at(5) },
  { key, n: 3, job_id: null },
];

interface Stage {
  readonly jobs: Row[];
  readonly runs: Row[];
  readonly occurrences: Row[];
  readonly slots: Row[];
}

/** Each schedule, starter, state and seal at each time; the larger the id, the earlier it stands in the table. */
function stage(times: readonly number[], by: readonly string[], spreadMs = 0): Stage {
  const all = by.flatMap((schedule) =>
    starters.flatMap((state) =>
      [true, false].flatMap((sealed) =>
        ["RUNNING", "CANCELING", "FAILED"].flatMap((run) => times.map((ms) => ({ schedule, state, sealed, run, ms }))),
      ),
    ),
  );
  const rows = all.map((one, n) => ({ ...one, id: all.length - n, key: `slot-${n}`, starter: 1_000 + all.length - n }));
  return {
    jobs: rows.flatMap(({ id, state, schedule }) =>
      state === null ? [] : [jobRow(id, { state, schedule_id: schedule })],
    ),
    runs: rows.map(({ id, run, sealed, ms, schedule, starter }) =>
      runRow(id, {
        state: run,
        sealed,
        starter_id: starter,
        prematerialized_for: at(ms),
        prematerialized_by: schedule,
      }),
    ),
    occurrences: rows.flatMap(({ schedule, ms, starter }, n) => [
      occurrenceRow(schedule, ms - n * spreadMs, {
        local_time: `t-${n}`,
        job_id: starter,
        outcome: n % 3 === 0 ? "CAUGHT_UP" : "FIRED",
        reason: spreadMs === 0 ? "dst-gap" : null,
      }),
      ...(n % 5 === 0
        ? [
            occurrenceRow(schedule, ms, {
              local_time: `u-${n}`,
              job_id: starter,
              outcome: "SKIPPED",
              reason: "dst-gap",
            }),
          ]
        : []),
    ]),
    slots: rows.flatMap(({ key, starter }, n) => (n % 3 === 0 ? slotsOf(starter, key) : [])),
  };
}

async function open({ pool }: World, { jobs, runs, occurrences, slots }: Stage): Promise<void> {
  const keys = [...new Set(slots.map((row) => row["key"])), "beside"];
  await put(pool, "schedule", schedules);
  await put(
    pool,
    "slot_group",
    keys.map((key) => ({ key, size: 3, on_refusal: "hold", reason: "slot" })),
  );
  await put(pool, "job", jobs);
  await put(pool, "run", runs);
  await put(pool, "occurrence", occurrences);
  await put(pool, "slot", [...slots, { key: "beside", n: 1, job_id: 9, free_from: at(5) }, { key: "beside", n: 2 }]);
}

async function decided(world: World): Promise<void> {
  const all = stage([-1, 0, 1, 3_000, 3_001, 9_000], [...schedules.map((row) => String(row["id"])), "gone"], 20_000);
  await open(world, all);
  await send(world, decidePrematerialized, [2]);
  await send(world, decideBeforeChange, [["goes-on", "paused"], 1_000, 0]);
  await send(world, decidePrematerialized, [1_000]);
  await send(world, decideBeforeChange, [["goes-on", "paused", "gone"], 1_000, 3_000]);
  await send(world, decideBeforeChange, [["pause-ends"], 1_000, 0]);
  await world.clock.advance(1);
  await send(world, decideBeforeChange, [["pause-ends-then"], 1_000, 0]);
}

/** Decided by versions with and without time to write, before and after now; with a run, a decided one, or none. */
async function found(world: World): Promise<void> {
  const { pool } = world;
  const cases = [-1, 0, 1, 60_000].flatMap((ms) =>
    [1, 2, 3, 4].flatMap((version) =>
      ["RUNNING", "SUCCESS", "CANCELED"].flatMap((state) =>
        ["none", "ahead", "decided"].map((run) => ({ ms, version, state, run })),
      ),
    ),
  );
  const outcomes = ["FIRED", "CAUGHT_UP", "PLANNED", "SKIPPED"];
  for (const schedule of ["mine", "other"])
    await put(
      pool,
      "schedule_version",
      [undefined, 0, 1, 60_000].map((materializeBeforeMs, n) => ({
        schedule_id: schedule,
        version: n + 1,
        spec: { schedule, n, materializeBeforeMs },
        from_at: at(-1),
      })),
    );
  const rows = [...cases, ...cases].map((one, n) => ({
    ...one,
    id: 2 * cases.length - n,
    schedule: n % 7 === 0 ? "other" : "mine",
    outcome: outcomes[n % 11 < 2 ? 2 + (n % 11) : n % 2] ?? "FIRED",
  }));
  await put(
    pool,
    "job",
    rows.map(({ id, state }) => jobRow(id, { state })),
  );
  await put(
    pool,
    "occurrence",
    rows.map(({ id, ms, version, schedule, outcome }) =>
      occurrenceRow(schedule, ms, {
        local_time: `t-${id}`,
        job_id: 1_000 + id,
        schedule_version: version,
        outcome,
        reason: "dst-gap",
      }),
    ),
  );
  await put(
    pool,
    "run",
    rows.flatMap(({ id, run, ms }) =>
      run === "none" ? [] : [runRow(id, { starter_id: 1_000 + id, ...ahead(run, ms) })],
    ),
  );
  await send(world, findPrematerialized, [["mine"]]);
  await send(world, findPrematerialized, [["mine", "other"]]);
}

const ahead = (run: string, ms: number): Row =>
  run === "ahead" ? { prematerialized_for: at(ms), prematerialized_by: "mine" } : {};

async function withdrawn(world: World): Promise<void> {
  const all = stage([-1, 0, 1, 9_000], ["goes-on", "paused"]);
  const isHere = (row: Row): boolean => Number(row["id"]) % 7 !== 0;
  await open(world, {
    ...all,
    runs: all.runs.map((run) =>
      Number(run["id"]) % 5 === 0 ? { ...run, prematerialized_for: null, prematerialized_by: null } : run,
    ),
  });
  const some = all.runs.filter(isHere).map((run) => run["starter_id"]);
  await send(world, withdrawPrematerialized, [some.slice(0, 20)]);
  await send(world, withdrawPrematerialized, [some]);
}

/** Keys of jobs that waited or ran, ended or not, in runs that were withdrawn or were not. */
async function freed(world: World): Promise<void> {
  const { pool } = world;
  await put(pool, "run", [runRow(1, { withdrawn: "withdrawn" }), runRow(2), runRow(3, { withdrawn: "paused" })]);
  const rows = [1, 2, 3, null].flatMap((run) =>
    [0, 1].flatMap((attempt) => ["CANCELED", "PENDING", "QUEUED"].map((state) => ({ run, attempt, state }))),
  );
  const jobs = rows.map(({ run, attempt, state }, n) =>
    jobRow(rows.length - n, {
      state,
      attempt,
      run_id: run === null ? null : 1_000 + run,
      key: n % 2 === 0 ? `key-${n}` : `a key that is cut here ${n}`,
    }),
  );
  await put(pool, "job", jobs);
  const ids = jobs.map((row) => row["id"]);
  await send(world, freeWithdrawnKeys, [ids.slice(0, -2), 10]);
  await send(world, freeWithdrawnKeys, [ids.slice(0, 4), 480]);
}
