import {
  advanceReader,
  createReader,
  failReader,
  markPublished,
  readReader,
  takeReader,
} from "../../../../src/adapters/postgres/sql/reader.ts";
import { readStream, readStreamEnd } from "../../../../src/adapters/postgres/sql/stream.ts";
import { at, eventRow, jobRow, put, send, start, withoutIndexes, xid } from "../stage.ts";
import type { Tour, World } from "../tour.ts";

/** Events of every transaction that two looks can tell apart, and readers in each state. */
export const stream: Tour = { name: "stream", parts: [ends, looks, readers, published] };

async function ends(world: World): Promise<void> {
  await send(world, readStreamEnd);
  await put(world.pool, "event", [eventRow(7, "PENDING", [1]), eventRow(5, "PENDING", [1])]);
  await send(world, readStreamEnd);
}

/** Event, its transaction, and how many jobs moved in it. The first look ended behind 50. */
const events = [
  [51, 12, 2],
  [40, 12, 1],
  [30, 15, 3],
  [50, 12, 1],
  [31, 11, 1],
  [41, 20, 2],
  [20, 15, 1],
  [42, 24, 1],
  [43, 25, 1],
  [44, 19, 1],
  [52, 5, 1],
  [60, 39, 1],
  [53, 22, 3],
  [54, 30, 1],
  [55, 40, 1],
  [56, 28, 0],
  [57, 27, 2],
  [58, 12, 1],
  [45, 30, 1],
  [19, 12, 1],
  [59, 33, 2],
] as const;

async function looks(world: World): Promise<void> {
  await withoutIndexes(world);
  await put(world.pool, "job", [jobRow(1, "QUEUED", { key: "k", run_id: 4 }), jobRow(3, "SUCCESS", { kind: "other" })]);
  await put(
    world.pool,
    "event",
    events.map(([id, of, jobs]) => ({
      ...eventRow(id, id % 2 === 0 ? "QUEUED" : "PENDING", [1, 2, 3].slice(0, jobs), { ms: id }),
      xid: xid(of),
      ...(id % 2 === 0 ? { from_state: "PENDING", worker: "w", reason: "late" } : {}),
    })),
  );
  const first = `${xid(10)}:${xid(20)}:${xid(12)},${xid(15)}`;
  const open = [xid(12), xid(15)];
  const seconds = [
    `${xid(28)}:${xid(40)}:${xid(30)},${xid(33)}`,
    `${xid(12)}:${xid(40)}:${xid(12)},${xid(22)},${xid(24)},${xid(30)}`,
    `${xid(20)}:${xid(20)}:`,
  ];
  for (const second of seconds) {
    for (const [after, place] of [
      [0, 0],
      [20, 1],
      [30, 1],
      [30, 3],
      [41, 2],
      [50, 0],
      [50, 1],
      [51, 1],
      [53, 3],
      [60, 1],
    ]) {
      for (const limit of [100, 1, 2, 4])
        await send(world, readStream, [first, open, xid(20), xid(25), "50", second, after, place, limit, "1"]);
    }
    for (const epoch of ["20", "21", "42", "50", "51", "52", "54", "61"])
      await send(world, readStream, [first, open, xid(20), xid(25), "50", second, "0", "0", 100, epoch]);
  }
}

async function readers(world: World): Promise<void> {
  const { pool } = world;
  const reader = (name: string, over: Record<string, unknown> = {}) => ({
    name,
    upto: "a",
    version: 5,
    failures: 0,
    ...over,
  });
  const owned = (owner: string, ms: number) => ({ owner, owner_until: at(ms) });
  const names = ["free", "mine", "mine-late", "past", "now", "held", "wait", "waited", "over"];
  await put(pool, "reader", [
    reader("free"),
    reader("mine", owned("ada", 1)),
    reader("mine-late", owned("ada", -1)),
    reader("past", owned("bob", -1)),
    reader("now", owned("bob", 0)),
    reader("held", owned("bob", 1)),
    reader("wait", { retry_at: at(1) }),
    reader("waited", { retry_at: at(0) }),
    reader("over", { retry_at: at(-1) }),
    ...[0, 1, 3, 19, 20, 21, 30].map((failures) =>
      reader(`failed-${failures}`, { ...owned("ada", 1), failures, retry_at: at(-1) }),
    ),
  ]);
  for (const name of [...names, "none"]) {
    await send(world, readReader, [name]);
    for (const version of ["5", "4"]) await send(world, takeReader, [name, "ada", version, 500]);
  }
  for (const failures of [0, 1, 3, 19, 20, 21, 30]) {
    for (const [owner, version] of [
      ["bob", "5"],
      ["ada", "4"],
      ["ada", "5"],
    ])
      await send(world, failReader, [`failed-${failures}`, owner, version, 2, failures === 3 ? 10 : 1e9]);
  }
  for (const [owner, version] of [
    ["bob", "6"],
    ["ada", "5"],
    ["ada", "6"],
  ]) {
    await put(pool, "reader", [
      { ...reader(`to-${owner}-${version}`, owned("ada", 1)), version: 6, failures: 4, retry_at: at(1) },
    ]);
    await send(world, advanceReader, [`to-${owner}-${version}`, owner, version, "b"]);
  }
  for (const name of ["free", "new"]) await send(world, createReader, [name, "c"]);
}

async function published(world: World): Promise<void> {
  await put(world.pool, "event", [
    eventRow(1, "PENDING", [1, 2]),
    eventRow(2, "PENDING", [1, 2], { ms: -1 }),
    eventRow(3, "PENDING", [1], { ms: 5 }),
    eventRow(4, "PENDING", [1], { ms: 6 }),
    eventRow(5, "PENDING", [1], { ms: 7 }),
    eventRow(6, "PENDING", [1], { over: { published_at: at(-1) } }),
    eventRow(7, "PENDING", [1, 2, 3]),
    eventRow(8, "PENDING", [1]),
    { ...eventRow(9, "PENDING", [1]), xid: xid(8) },
    { ...eventRow(9, "PENDING", [1]), xid: xid(9) },
  ]);
  const ids = [1, 2, 3, 4, 5, 6, 7, 8];
  const places = [2, 2, 1, 1, 1, 1, 2, 1];
  await send(world, markPublished, [ids.map((id) => xid(id)), ids.map(String), places, start, start + 5]);
  await send(world, markPublished, [[xid(9)], ["9"], [1], start, start]);
}
