import {
  addUpJoins,
  addUpRuns,
  countUncounted,
  lookAtRuns,
  skipStopped,
} from "../../../../src/adapters/postgres/sql/resolve.ts";
import { states } from "../../../../src/core/job/state.ts";
import { jobRow, runRow, whileHeld } from "../rows.ts";
import { send, at, put, type Row } from "../stage.ts";
import type { Tour, World } from "../tour.ts";
import { runStates } from "./runs.ts";

/** What a round of `resolve` looks for, counts, adds up and stops, with what it must leave beside it. */
export const runEnds: Tour = { name: "run-ends", parts: [looked, listed, counted, joined, summed, stopped] };

const policies = ["stop", "skip-downstream", "continue"];
const many = 3;

interface Looked {
  readonly run: Row & { readonly state?: string };
  readonly starter?: string;
  readonly jobs?: readonly string[];
  readonly deltas?: readonly Row[];
}

const delta = (over: Row = {}): Row => ({ total: 0, done: 0, failed: 0, ...over });

/** Each of them alone decides an answer. */
const lookedAt: readonly Looked[] = [
  ...["gone", "none", ...states].flatMap((starter) => [true, false].map((sealed) => ({ run: { sealed }, starter }))),
  { run: { state: "DONE", sealed: false }, starter: "FAILED" },
  { run: { sealed: true } },
  { run: { state: "CANCELING", sealed: false }, starter: "CANCELED" },
  { run: { sealed: true, total: 1, done: 1 } },
  { run: { sealed: true, total: 2, done: 1 }, deltas: [delta({ done: 1 })] },
  { run: { sealed: false, total: 2, done: 1 }, deltas: [delta({ done: 1 })] },
  { run: { sealed: true, total: 3, done: 1 }, deltas: [delta({ done: 1 })] },
  { run: { sealed: true, total: 1, done: 1 }, deltas: [delta({ total: 1 })] },
  { run: { sealed: true, total: 1, done: 3 }, deltas: [delta({ total: 1 })] },
  { run: { sealed: true, total: 9 }, deltas: [delta(), delta()] },
  { run: { sealed: true, total: 9 }, deltas: [delta(), delta(), delta()] },
  { run: { sealed: true, total: 9 }, deltas: [delta(), delta(), delta(), delta()] },
  ...policies.flatMap((on_failure) => [
    { run: { total: 9, on_failure }, deltas: [delta({ failed: 1 })] },
    { run: { total: 9, on_failure, failed: 1 }, deltas: [delta()] },
    { run: { total: 9, on_failure, stopped: true }, deltas: [delta({ failed: 1 })] },
    { run: { total: 9, on_failure, failed: -1 }, deltas: [delta({ failed: 1 })] },
  ]),
  ...states.flatMap((state) => [
    { run: { stopped: true }, jobs: [state] },
    { run: { stopped: false }, jobs: [state] },
    { run: { stopped: true, state: "CANCELING" }, jobs: [state] },
  ]),
];

/** The place of the next pass, which the watcher leaves out by its own name: others of this name are drawn by the server. */
const placeOf = {
  ...lookAtRuns,
  text: `/* belfry:${lookAtRuns.name} */ select behind, next as goes_on_behind from (${lookAtRuns.text}) as looked_at`,
};

async function stage({ pool }: World): Promise<void> {
  await put(
    pool,
    "run",
    lookedAt.map(({ run, starter }, n) =>
      runRow(n, { ...run, starter_id: starter === undefined || starter === "none" ? null : 1_000 + n }),
    ),
  );
  await put(
    pool,
    "job",
    lookedAt.flatMap(({ starter, jobs = [] }, n) => [
      ...(states.some((state) => state === starter) ? [jobRow(n, { state: starter ?? "" })] : []),
      ...jobs.map((state, i) => jobRow(1_000 * (n + 1) + i, { state, run_id: 1_000 + n })),
    ]),
  );
  await put(
    pool,
    "run_delta",
    lookedAt.flatMap(({ deltas = [] }, n) => deltas.map((one) => ({ run_id: 1_000 + n, ...one }))),
  );
}

async function looked(world: World): Promise<void> {
  await stage(world);
  const place = (id: number | ""): Promise<unknown> =>
    world.pool.query(
      "with one as (insert into belfry.pass_place values ('resolve', $1) on conflict (step) do update set behind = $1) delete from noted.change",
      [String(id)],
    );
  await send(world, lookAtRuns, [null, many, 4, 100]);
  await place("");
  await send(world, lookAtRuns, [null, many, 1_000, 2]);
  await send(world, lookAtRuns, [null, many, 1_000, 100]);
  for (const n of lookedAt.keys()) {
    await place(1_000 + n - 1);
    await send(world, lookAtRuns, [null, many, 1, 100]);
  }
  await place(1_010);
  for (const window of [5, lookedAt.length - 11, lookedAt.length - 10, 900])
    await send(world, placeOf, [null, many, window, 100]);
  await send(world, lookAtRuns, [[1_002, 1_022, 1_025], many, 1, 100]);
  await send(world, lookAtRuns, [lookedAt.map((_, n) => 1_000 + n), many, 2, 100]);
  await send(world, lookAtRuns, [lookedAt.map((_, n) => 1_000 + n), many, 900, 1]);
}

/** Ends and joins of this run, of another, and of none. */
async function listed(world: World): Promise<void> {
  await put(world.pool, "run", [runRow(1), runRow(2)]);
  const both = async (): Promise<void> => {
    for (const runs of [null, [1_001], [1_002]]) await send(world, lookAtRuns, [runs, many, 10, 10]);
  };
  await put(world.pool, "run_done", [{ run_id: 1_001, job_id: 1 }]);
  await both();
  await world.pool.query("with gone as (delete from belfry.run_done) delete from noted.change");
  await put(world.pool, "pred_delta", [{ run_id: 1_001, to_id: 1, n: 1, ok: 1, bad: 0 }]);
  await world.pool.query("delete from noted.change");
  await both();
}

const rules = ["all", "any", "allDone"];

/** Successors that wait for the ends of `from`: narrow and wide, at each count, ready or not, in time or not. */
function successors(
  run: number,
  first: number,
  from: readonly number[],
  open = 1,
): { readonly jobs: Row[]; readonly edges: Row[] } {
  const cases = rules.flatMap((join_rule) =>
    [0, 1].flatMap((more) =>
      [0, 1].flatMap((ok) =>
        [0, 1].flatMap((bad) => [false, true].map((wide) => ({ join_rule, preds_ok: ok, preds_bad: bad, more, wide }))),
      ),
    ),
  );
  const rows = cases.map((one, n) => ({ ...one, id: first + cases.length - n, n }));
  const due = [-1, 0, 60_000, 60_001];
  return {
    jobs: rows.map(({ id, join_rule, preds_ok, preds_bad, more, wide, n }) =>
      jobRow(id, {
        state: n % 23 === 22 ? "QUEUED" : n % 17 === 16 ? "CANCELED" : "PENDING",
        blocked: n % 23 !== 22 && n % 19 !== 18,
        generation: 0,
        run_id: 1_000 + run,
        join_rule,
        preds_ok,
        preds_bad,
        preds_open: open + more,
        wide,
        due_at: at(due[n % 4] ?? 0),
        lane: n % 3 === 0 ? "mail" : "default",
      }),
    ),
    edges: rows.map(({ id, wide, n }) => ({
      from_id: 1_000 + (from[n % from.length] ?? 0),
      to_id: 1_000 + id,
      wide,
      run_id: 1_000 + run,
    })),
  };
}

async function counted(world: World): Promise<void> {
  const { pool } = world;
  const runs = ["RUNNING", "CANCELING"].flatMap((state) => policies.map((on_failure) => ({ state, on_failure })));
  const ends = states.flatMap((state) =>
    (state === "SKIPPED" ? [false, true] : [false]).flatMap((not_taken) =>
      (state === "FAILED" ? [false, true] : [false]).map((end_counted) => ({ state, not_taken, end_counted })),
    ),
  );
  await put(
    pool,
    "run",
    runs.map((run, n) => runRow(n, run)),
  );
  const done: Row[] = [];
  for (const run of runs.keys()) {
    const ids = ends.map((_, n) => 1_000 * (run + 1) + n);
    await put(
      pool,
      "job",
      ends.map((end, n) => jobRow(ids[n] ?? 0, { ...end, run_id: 1_000 + run })),
    );
    const { jobs, edges } = successors(run, 1_000 * (run + 1) + 100, ids);
    await put(pool, "job", jobs);
    await put(pool, "edge", edges);
    done.push(...ids.slice(0, -1).map((id) => ({ run_id: 1_000 + run, job_id: 1_000 + id })));
  }
  await put(pool, "run_done", [...done.slice(0, 3), ...done]);
  // Of another run, behind a wide edge, and behind an end that has to wait: none of them may be locked.
  const others = "select from belfry.job where id in (7000, 2147, 2144) for update";
  await whileHeld(world, others, async () => {
    await send(world, countUncounted, [[1_000], 5, 60_000]);
  });
  await send(world, countUncounted, [[1_000, 1_002], 100, 60_000]);
  await send(world, countUncounted, [null, 4, 60_000]);
  await send(world, countUncounted, [null, 100, 0]);
}

async function joined(world: World): Promise<void> {
  const { pool } = world;
  await put(pool, "run", [runRow(1), runRow(2), runRow(3)]);
  for (const run of [1, 2, 3]) {
    const { jobs } = successors(run, 1_000 * run, [1], 2);
    await put(pool, "job", jobs);
    await put(
      pool,
      "pred_delta",
      jobs
        .slice(run === 3 ? 20 : 0, -2)
        .flatMap(({ id }, n) => [
          { run_id: 1_000 + run, to_id: id, n: 1, ok: n % 2, bad: 1 - (n % 2) },
          ...(n % 3 === 0 ? [{ run_id: 1_000 + run, to_id: id, n: 1, ok: n % 4 === 0 ? 1 : 0, bad: 0 }] : []),
        ]),
    );
  }
  await send(world, addUpJoins, [[1_001], 5, 60_000]);
  await send(world, addUpJoins, [[1_001], 100, 60_000]);
  await send(world, addUpJoins, [[1_002, 1_003], 100, 60_000]);
  await send(world, addUpJoins, [null, 100, 0]);
}

const sums: readonly Row[] = [
  { total: 1, done: 1, ok: 1 },
  { total: 1, done: 1, failed: 1 },
  { total: 1, done: 1, skipped: 1 },
  { total: 1, done: 1 },
  { total: 2, done: 1, ok: 1 },
  { total: 0, done: 0 },
  { total: 1, done: 0, failed: 1 },
];

async function summed(world: World): Promise<void> {
  const runs = runStates.flatMap((state) =>
    [true, false].flatMap((sealed) =>
      policies.flatMap((on_failure) =>
        sums.map((sum, n) => ({
          state,
          sealed,
          on_failure,
          error: n % 4 === 3 ? "its starter is gone" : null,
          stopped: n === 4,
          total: 1,
          done: 1,
          ...(n % 2 === 0 ? { ok: 1 } : { skipped: 1 }),
          sum,
        })),
      ),
    ),
  );
  const rows = runs.map(({ sum, ...run }, n) => ({ id: runs.length - n, run, sum }));
  await put(
    world.pool,
    "run",
    rows.map(({ id, run }) => runRow(id, run)),
  );
  await put(
    world.pool,
    "run_delta",
    rows.flatMap(({ id, sum }, n) => [
      { run_id: 1_000 + id, ...sum },
      ...(n % 5 === 0 ? [{ run_id: 1_000 + id }] : []),
    ]),
  );
  await put(world.pool, "run", [runRow(900, { sealed: true })]);
  await send(world, addUpRuns, [[...rows.slice(3).map(({ id }) => 1_000 + id), 1_900]]);
}

/** Jobs of each state in runs that stopped and in one that did not. */
async function stopped(world: World): Promise<void> {
  await put(world.pool, "run", [runRow(1), runRow(2), runRow(3)]);
  const jobs = [1, 2, 3].flatMap((run) =>
    [...states, "PENDING", "RETRY_WAIT"].map((state, n) => ({ run, state, n, id: 100 * run + 20 - n })),
  );
  await put(
    world.pool,
    "job",
    jobs.map(({ run, state, n, id }) =>
      jobRow(id, {
        state,
        run_id: 1_000 + run,
        blocked: state === "PENDING" && n < 5,
        attempt: state === "RUNNING" ? 1 : 0,
        ...(n >= states.length ? { hold: "slot", held_on: "cap:a" } : {}),
      }),
    ),
  );
  await send(world, skipStopped, [[1_001, 1_002], 3]);
  await send(world, skipStopped, [[1_001], 1]);
  await send(world, skipStopped, [[1_001, 1_002], 100]);
}
