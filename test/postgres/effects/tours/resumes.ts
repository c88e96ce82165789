import {
  chooseAgain,
  lockRun,
  lockWaiting,
  readyLanes,
  recount,
  reopenRun,
  resumeJobs,
} from "../../../../src/adapters/postgres/sql/resume.ts";
import { readRunEdges, readRunMap } from "../../../../src/adapters/postgres/sql/run-map.ts";
import { states } from "../../../../src/core/job/state.ts";
import type { JobId, RunId } from "../../../../src/core/job/job.ts";
import { jobRow, runRow } from "../rows.ts";
import { send, at, put, type Row, withoutIndexes } from "../stage.ts";
import type { Tour, World } from "../tour.ts";
import { runStates } from "./runs.ts";

/** Runs that are resumed, and runs as people read them. */
export const resumes: Tour = { name: "resumes", parts: [chosen, again, recounted, read] };

const ends = ["FAILED", "CANCELED", "SKIPPED", "SUCCESS", "PENDING", "QUEUED", "RUNNING"];

const edge = (from: number, to: number, run = 1, wide = false): Row => ({
  from_id: 1_000 + from,
  to_id: 1_000 + to,
  run_id: 1_000 + run,
  wide,
});

/** From each end a chain: skipped, skipped as not taken, skipped behind that, and one that was not skipped. */
async function chosen(world: World): Promise<void> {
  await put(
    world.pool,
    "run",
    runStates.map((state, n) => runRow(n, { state })),
  );
  const roots = ends.flatMap((state) => [false, true].map((not_taken) => ({ state, not_taken })));
  const chain = [
    { state: "SKIPPED" },
    { state: "SKIPPED", not_taken: true },
    { state: "SKIPPED" },
    { state: "SUCCESS" },
    { state: "SKIPPED" },
    { state: "CANCELED" },
  ];
  for (const run of [0, 1]) {
    const first = 1_000 * (run + 1);
    const rows = roots.flatMap((root, n) => [root, ...chain].map((one, i) => ({ ...one, id: first + 10 * n + 9 - i })));
    await put(
      world.pool,
      "job",
      rows.map(({ id, ...over }) => jobRow(id, { ...over, run_id: 1_000 + run })),
    );
    await put(
      world.pool,
      "edge",
      roots.flatMap((_, n) =>
        [
          [9, 8],
          [8, 6],
          [9, 7],
          [7, 4],
          [9, 5],
          [6, 3],
        ].map(([from = 0, to = 0]) => edge(first + 10 * n + from, first + 10 * n + to, run)),
      ),
    );
  }
  for (const run of [1_000, 1_001, 1_002]) await send(world, chooseAgain, [run, null]);
  const named = roots.map((_, n) => 1_000 + 1_000 + 10 * n + 9);
  await send(world, chooseAgain, [1_000, named]);
  await send(world, chooseAgain, [1_000, named.slice(0, 1)]);
  await send(world, chooseAgain, [1_001, named.slice(3)]);
  for (const n of runStates.keys()) await send(world, lockRun, [1_000 + n]);
}

/** Jobs of each state, that wait for others or not, with what an end left in them. */
async function again(world: World): Promise<void> {
  const { pool } = world;
  await put(pool, "run", [runRow(1), runRow(2)]);
  const rows = [1, 2].flatMap((run) =>
    states.flatMap((state) => [true, false].map((blocked) => ({ run, state, blocked }))),
  );
  const mayWait = ["PENDING", "CANCELED", "SKIPPED"];
  const jobs = rows.map(({ run, state, blocked }, n) =>
    jobRow(rows.length - n, {
      state,
      run_id: 1_000 + run,
      blocked: blocked && mayWait.includes(state),
      lane: n % 3 === 0 ? "mail" : n % 3 === 1 ? "default" : "slow",
      attempt: 3,
      failures: 1,
      interruptions: 1,
      dead_letters: 1,
      solo_required: true,
      expires_at: at(5),
      end_counted: true,
      not_taken: state === "SKIPPED",
      slot_keys: ["a"],
      catch_up: n % 2 === 0,
      error_message: "no",
      due_at: at(n),
    }),
  );
  await put(pool, "job", jobs);
  const ids = jobs.map((row) => row["id"]);
  await put(
    pool,
    "run_done",
    ids.map((job_id) => ({ run_id: 1_001, job_id })),
  );
  await send(world, lockWaiting, [1_001, ids.slice(0, 6)]);
  await send(world, lockWaiting, [1_002, []]);
  await send(world, readyLanes, [ids.slice(2, 12)]);
  await send(world, readyLanes, [ids]);
  await send(world, resumeJobs, [ids.slice(0, -6), "ada"]);
  await send(world, readyLanes, [ids]);
}

const policies = ["stop", "skip-downstream", "continue"];
const rules = ["all", "any", "allDone"];

/** What a task may wait for: each state of a job, counted or not. */
const predecessors = states.flatMap((state) =>
  [true, false].flatMap((end_counted) =>
    (state === "SKIPPED" ? [true, false] : [false]).map((not_taken) => ({ state, end_counted, not_taken })),
  ),
);

/** Tasks behind one predecessor, behind two, and behind none; each by each rule. */
async function recounted(world: World): Promise<void> {
  const { pool } = world;
  for (const [run, on_failure] of policies.entries()) {
    const first = 10_000 * (run + 1);
    await put(pool, "run", [
      runRow(run, {
        on_failure,
        state: run === 0 ? "FAILED" : "DONE",
        withdrawn: "paused",
        total: 99,
        ok: 9,
        stopped: true,
      }),
    ]);
    await put(
      pool,
      "job",
      predecessors.map((over, n) => jobRow(first + n, { ...over, run_id: 1_000 + run })),
    );
    const behind = [
      [],
      ...predecessors.map((_, n) => [n]),
      ...predecessors.map((_, n) => [n, (n * 5 + 3) % predecessors.length]),
    ];
    const waiting = rules.flatMap((join_rule) => behind.map((after) => ({ join_rule, after })));
    const rows = waiting.map((one, n) => ({ ...one, id: first + 5_000 - n }));
    await put(
      pool,
      "job",
      rows.map(({ id, join_rule }, n) =>
        jobRow(id, {
          run_id: 1_000 + run,
          state: n % 41 === 40 ? "CANCELED" : n % 37 === 36 ? "QUEUED" : "PENDING",
          blocked: n % 37 !== 36 && n % 31 !== 30,
          join_rule,
          preds_open: 7,
          preds_ok: 7,
          preds_bad: 7,
        }),
      ),
    );
    await put(
      pool,
      "edge",
      rows.flatMap(({ id, after }) => [...new Set(after)].map((n) => edge(first + n, id, run))),
    );
    await put(
      pool,
      "pred_delta",
      rows.slice(0, 60).map(({ id }) => ({ run_id: 1_000 + run, to_id: 1_000 + id, n: 1, ok: 1, bad: 0 })),
    );
    await put(pool, "run_delta", [{ run_id: 1_000 + run, done: 1 }]);
  }
  for (const run of policies.keys()) await send(world, recount, [1_000 + run]);
  for (const run of policies.keys()) await send(world, reopenRun, [1_000 + run]);
}

/** By each filter, at each bound; tasks by place and state; the map and its edges, cut. */
async function read(world: World): Promise<void> {
  const { pool, store } = world;
  await withoutIndexes(world);
  const runs = runStates.flatMap((state) =>
    ["one", "two"].flatMap((kind) => ["x", "y"].map((key) => ({ state, kind, key }))),
  );
  await put(
    pool,
    "run",
    runs.map((over, n) =>
      runRow(n, { ...over, key: `${over.key}-${n % 10}`, parent_id: n % 3 === 0 ? null : 1_000 + (n % 4) }),
    ),
  );
  for (const filter of [
    {},
    { kinds: ["one"] },
    { kinds: ["one", "two"], key: "x-0" },
    { states: ["DONE", "FAILED"] as const },
    { parentId: "1001" as RunId },
    { before: "1010" as RunId, parentId: "1002" as RunId },
  ])
    for (const limit of [3, 100]) await store.runs({ ...filter, limit });
  await store.runs({ before: "1001" as RunId, limit: 3 });
  for (const id of ["1000", "1003", "9999"]) await store.run(id as RunId);
  const tasks = [2, 1].flatMap((run) =>
    states.map((state, n) => ({ run, state, id: 100 * run + ((n * 5 + 1) % 8), n })),
  );
  await put(
    pool,
    "job",
    tasks.map(({ run, state, id, n }) =>
      jobRow(id, {
        state,
        run_id: 1_000 + run,
        task: n % 3 === 2 ? null : `task-${n}`,
        key: `key-${id}`,
        result: { n },
        condition_row: n === 1 ? { n } : null,
      }),
    ),
  );
  await put(pool, "job", [jobRow(900, { state: "SUCCESS" })]);
  const to = tasks.filter(({ run }) => run === 1);
  const named = to.filter(({ n }) => n % 3 !== 2);
  await put(pool, "edge", named.flatMap(({ id }) => to.slice(0, 3).map((one) => edge(id, one.id))).toReversed());
  for (const after of [undefined, "1102", "1103"] as (JobId | undefined)[])
    for (const limit of [1, 2, 100])
      await store.tasks("1001" as RunId, { ...(after === undefined ? {} : { after }), limit });
  await store.tasks("1001" as RunId, { states: ["FAILED", "QUEUED"], limit: 2 });
  await store.inRuns([...tasks.map(({ id }) => String(1_000 + id) as JobId), "1900" as JobId]);
  for (const limit of [4, 100]) {
    await send(world, readRunMap, [1_001, limit]);
    for (const [each, all] of [
      [2, 100],
      [100, 4],
    ])
      await send(world, readRunEdges, [1_001, limit, each, all]);
  }
}
