import { readKindHours } from "../../../../src/adapters/postgres/sql/kind-hours.ts";
import {
  addUp,
  addUpBatches,
  createRollUp,
  findRollUpEnd,
  lockRollUp,
  readKindTotals,
  readMinutes,
} from "../../../../src/adapters/postgres/sql/rollup.ts";
import { minute } from "../../../contract/store/fixture.ts";
import { at, eventRow, jobRow, put, send, start, withoutIndexes, xid } from "../stage.ts";
import type { Tour, World } from "../tour.ts";

/** Adds up moves of every pair of states, on both sides of each bound, twice over. */
export const figures: Tour = {
  name: "figures",
  alsoWatched: ["roll-up-lock"],
  parts: [moves, ends, batches, byMinute, byHour, totals],
};

interface Move {
  readonly from?: string;
  readonly to: string;
  readonly ms?: number;
  readonly ids: readonly number[];
  readonly attempts?: readonly number[];
  readonly started?: readonly number[];
  readonly over?: Record<string, unknown>;
}

const eventOf = (id: number, { from, to, ms = 0, ids, attempts, started, over }: Move) =>
  eventRow(id, to, ids, {
    ms,
    ...(attempts === undefined ? {} : { attempts }),
    started: started ?? null,
    over: { ...(from === undefined ? {} : { from_state: from }), ...over },
  });

const lost = { error_code: "WORKER_LOST", worker: "w1" };
const by = (worker: string) => ({ worker });

/** 7 is a job that was pruned. */
const everyMove: readonly Move[] = [
  { to: "PENDING", ids: [1, 2, 7] },
  { to: "QUEUED", ids: [3], ms: minute - 1 },
  { to: "QUEUED", ids: [4, 5], ms: minute },
  { from: "PENDING", to: "QUEUED", ids: [1, 2], over: by("not-a-worker") },
  { from: "QUEUED", to: "RUNNING", ids: [1, 2, 3, 7], ms: 5_000, over: by("w1") },
  { from: "QUEUED", to: "RUNNING", ids: [4, 5], attempts: [1, 2], ms: minute + 7_001, over: by("w2") },
  { from: "QUEUED", to: "RUNNING", ids: [6, 8], ms: 60 * minute, over: by("w3") },
  { from: "RUNNING", to: "SUCCESS", ids: [1, 2], started: [0, 2_000], ms: 4_000, over: by("w1") },
  { from: "RUNNING", to: "SUCCESS", ids: [7, 4], started: [0, 9_000], ms: 8_000, over: by("w4") },
  {
    from: "RUNNING",
    to: "FAILED",
    ids: [3, 5],
    started: [0, 1],
    ms: 4_001,
    over: { ...by("w2"), error_code: "E_ONE" },
  },
  { from: "RUNNING", to: "RETRY_WAIT", ids: [1, 8], started: [0, 0], ms: 61 * minute, over: by("w1") },
  { from: "RUNNING", to: "RETRY_WAIT", ids: [2], started: [0], ms: 2 * minute, over: lost },
  { from: "RUNNING", to: "RETRY_WAIT", ids: [3], started: [0], ms: minute, over: lost },
  { from: "RUNNING", to: "FAILED", ids: [6], started: [50], ms: 3 * minute, over: { ...lost, worker: "w2" } },
  { from: "RUNNING", to: "QUEUED", ids: [3], started: [0], ms: 4 * minute, over: { ...lost, worker: "w5" } },
  { from: "RUNNING", to: "QUEUED", ids: [4], started: [10], ms: 1_000, over: by("w5") },
  { from: "RUNNING", to: "PENDING", ids: [1, 2], started: [10, 20], ms: 2_000, over: by("w5") },
  { from: "RUNNING", to: "CANCELED", ids: [8], started: [5], ms: 1_500, over: by("w6") },
  { from: "RUNNING", to: "SUCCESS", ids: [1], started: [0], ms: 77 },
  { from: "PENDING", to: "CANCELED", ids: [1, 5], over: { reason: "lock-held" } },
  { from: "QUEUED", to: "PENDING", ids: [2], over: { reason: "lock-held" } },
  { from: "PENDING", to: "SKIPPED", ids: [3, 4, 7] },
  { from: "QUEUED", to: "RETRY_WAIT", ids: [6], over: { error_code: "WORKER_LOST", worker: "w7" } },
  { from: "QUEUED", to: "FAILED", ids: [6, 8], over: { error_code: "E_ONE", worker: "w7" } },
];

const startsOfJobs = [
  jobRow(1, "PENDING", { kind: "a", lane: "x", attempt: 1, due_at: at(0), slot_keys: '{"cap:a","lock:b"}' }),
  jobRow(2, "PENDING", { kind: "a", lane: "y", attempt: 1, due_at: at(3_000), slot_keys: '{"cap:lock:b"}' }),
  jobRow(3, "QUEUED", { kind: "a", lane: "x", attempt: 1, due_at: at(5_000), slot_keys: '{"lock:b","lock:c"}' }),
  jobRow(4, "QUEUED", { kind: "b", lane: "x", attempt: 1, due_at: at(minute + 5_000) }),
  jobRow(5, "QUEUED", { kind: "b", lane: "x", attempt: 1, due_at: at(0) }),
  jobRow(6, "QUEUED", { kind: "b", lane: "y", attempt: 1, due_at: at(60 * minute - 2_000) }),
  jobRow(8, "QUEUED", { kind: "c", lane: "x", attempt: 1, due_at: at(60 * minute + 1) }),
];

const bounds = [[0.005, 0.1, 1, 4], 4, 2, [0.5, 2, 5, 30]] as const;

/** The workers are known by a lane, by none, for longer and for less long. */
const workers = [
  { id: "w1", lane: "old", started_at: at(-9), seen_at: at(-9), ended: 10, failed: 5, lost: 3, lost_at: at(-9) },
  { id: "w2", started_at: at(-9), seen_at: at(99 * minute), ended: 1, failed: 1, lost: 1, lost_at: at(-9) },
  { id: "w4", lane: "x", started_at: at(-9), seen_at: at(-9), ended: 1, failed: 1, lost: 1, lost_at: at(-9) },
];

async function moves(world: World): Promise<void> {
  const { pool } = world;
  await withoutIndexes(world);
  await put(pool, "job", startsOfJobs);
  await put(pool, "worker", workers);
  await put(
    pool,
    "event",
    everyMove.map((move, n) => eventOf(n + 1, move)),
  );
  await put(
    pool,
    "event",
    everyMove.map((move, n) => eventOf(n + 101, { ...move, ms: (move.ms ?? 0) + 3 })),
  );
  await put(pool, "reader", [{ name: "other", upto: xid(0) }]);
  await send(world, lockRollUp);
  await send(world, createRollUp);
  await send(world, createRollUp);
  await send(world, lockRollUp);
  const last = everyMove.length;
  const add = (from: number, upto: number, first: number) =>
    send(world, addUp, [xid(from), xid(upto), ...bounds, String(first)]);
  await add(1, 5, 1);
  await add(5, last, 1);
  await add(last, 101, 1);
  await add(50, 50 + 101 + last, 1);
  await add(0, 200, 105);
  await add(101, 101, 1);
  await send(world, readKindTotals, [100]);
  await send(world, readMinutes, [start, null, null, 100]);
}

/** Several events of one transaction, events that lie in another order than their transactions, and empty ones. */
async function ends(world: World): Promise<void> {
  await withoutIndexes(world);
  const event = (id: number, of: number, jobs: number) => ({
    ...eventRow(
      id,
      "PENDING",
      Array.from({ length: jobs }, (_, n) => n + 1),
    ),
    xid: xid(of),
  });
  await put(world.pool, "event", [
    event(9, 2, 3),
    event(1, 3, 2),
    event(2, 1, 1),
    event(4, 1, 2),
    event(3, 1, 1),
    event(5, 5, 1),
    event(6, 4, 4),
    event(7, 6, 1),
    event(8, 8, 2),
  ]);
  for (const [from, upto, limit, first] of [
    [0, 9, 1, 1],
    [0, 9, 3, 1],
    [1, 4, 10, 1],
    [1, 9, 1, 1],
    [1, 9, 2, 1],
    [1, 9, 3, 1],
    [1, 9, 4, 1],
    [1, 9, 5, 1],
    [1, 9, 7, 1],
    [1, 9, 100, 1],
    [2, 8, 6, 1],
    [3, 8, 2, 1],
    [3, 6, 7, 1],
    [3, 6, 6, 1],
    [1, 9, 1, 3],
    [1, 9, 2, 4],
    [1, 9, 3, 9],
    [9, 20, 1, 1],
  ] as const)
    await send(world, findRollUpEnd, [xid(from), xid(upto), limit, String(first)]);
}

async function batches(world: World): Promise<void> {
  await withoutIndexes(world);
  const batch = (kind: string, lane: string, ms: number, figuresOf: readonly [number, number, number]) => {
    const [processed, succeeded, failed] = figuresOf;
    return { kind, lane, at: at(ms), processed, succeeded, failed };
  };
  await put(world.pool, "batch_count", [
    batch("a", "x", 0, [10, 7, 3]),
    batch("a", "x", minute - 1, [1, 1, 0]),
    batch("a", "x", minute, [5, 1, 4]),
    batch("a", "y", 1, [20, 2, 18]),
    batch("b", "x", 2, [40, 9, 31]),
    batch("a", "x", 3, [80, 33, 47]),
    batch("b", "y", minute + 3, [7, 5, 2]),
  ]);
  for (const limit of [4, 2, 5, 5]) await send(world, addUpBatches, [limit, 3]);
}

const hourOf = (n: number, kind: string, lane: string, bucket: number) => ({
  at: at(n * 60 * minute),
  kind,
  lane,
  bucket,
  waited: 1 + bucket,
  ran: 10 * (n + 5) + bucket,
  failed: 1,
});

const kinds = ["b", "a", "c"] as const;
const lanes = ["y", "x"] as const;

async function byMinute(world: World): Promise<void> {
  await withoutIndexes(world);
  const minutes = [3, -2, 0, 1];
  await put(
    world.pool,
    "minute",
    kinds.flatMap((kind, k) =>
      lanes.flatMap((lane) =>
        minutes.map((n) => ({
          at: at(n * minute),
          kind,
          lane,
          created: k + 1 + (lane === "x" ? 10 : 0),
          started: n + 9,
          failed: 1,
          run_ms: 5,
        })),
      ),
    ),
  );
  for (const [since, of, lane, limit] of [
    [0, null, null, 100],
    [1, null, null, 100],
    [minute, ["a", "c"], null, 100],
    [0, ["b"], "x", 100],
    [-9 * minute, null, "y", 3],
    [-9 * minute, null, null, 2],
  ] as const)
    await send(world, readMinutes, [start + since, of, lane, limit]);
}

async function byHour(world: World): Promise<void> {
  await withoutIndexes(world);
  const times = [2, 0, -1, 1, ...Array.from({ length: 20 }, (_, n) => 3 + n)];
  await put(
    world.pool,
    "hour",
    times.flatMap((n) => kinds.flatMap((kind) => lanes.flatMap((lane) => [4, 1].map((b) => hourOf(n, kind, lane, b))))),
  );
  const hour = 60 * minute;
  await world.pool.query("analyze belfry.hour");
  const periods = [start, start + 2 * hour, start - hour, start + hour];
  for (const [kind, lane, limit] of [
    [null, null, 100],
    ["a", null, 100],
    [null, "x", 100],
    ["b", "y", 3],
    [null, null, 5],
  ] as const)
    await send(world, readKindHours, [...periods, kind, lane, limit]);
  await send(world, readKindHours, [start - hour, start + 30 * hour, start, start + 20 * hour, null, null, 100]);
}

async function totals(world: World): Promise<void> {
  await withoutIndexes(world);
  await put(
    world.pool,
    "kind_total",
    kinds.map((kind, n) => ({
      kind,
      buckets: `{${n},1}`,
      attempts: n,
      seconds: n,
      items_processed: n,
      items_succeeded: 1,
      items_failed: 2,
      locks_acquired: 3,
      locks_failed: 4,
      failed_seconds: 1,
      failed_buckets: "{1}",
      late_seconds: 4,
      late_buckets: "{2}",
      created: 5,
      succeeded: 6,
      failed: 7,
      retried: 8,
      lost: 9,
      released: 10,
      canceled: 11,
      skipped: 12,
    })),
  );
  for (const limit of [100, 2]) await send(world, readKindTotals, [limit]);
}
