import { PermanentError } from "belfry";
import { expect, test } from "vitest";
import { Item, type Tried } from "./items.ts";
import type { Turn } from "./ports.ts";
import { beginTurn } from "./use-case.ts";

interface Row {
  id: string;
  attempts: number;
  state: Tried<true>["state"];
  dueAt: number;
}

class Thing extends Item<true> {
  override markDone(): Tried<true> {
    return this.after("PUBLISHED", {});
  }
}

/** A table in memory that reads and writes as the SQL does, on a clock that a test moves. */
function table(count: number) {
  const rows: Row[] = Array.from({ length: count }, (_, n) => ({
    id: String(n),
    attempts: 0,
    state: "PENDING",
    dueAt: 0,
  }));
  const clock = { now: 1_000 };
  const reader = {
    begin: async (): Promise<Turn> => ({ startedAt: String(clock.now) }),
    findUnpublished: async ({ startedAt }: Turn, size: number) => {
      const due = rows.filter((row) => row.state === "PENDING" && row.dueAt <= Number(startedAt));
      const inLine = due.toSorted((a, b) => a.dueAt - b.dueAt || Number(a.id) - Number(b.id));
      return { items: inLine.slice(0, size).map((row) => new Thing(row)), hasMore: inLine.length > size };
    },
  };
  const writer = {
    persist: async ({ startedAt }: Turn, tried: Tried<true>) => {
      const row = rows.find(({ id, attempts }) => id === tried.id && attempts === tried.attemptsBefore);
      if (row === undefined) return;
      row.attempts += 1;
      row.state = tried.state;
      if (tried.waitMs !== null) row.dueAt = Number(startedAt) + tried.waitMs;
    },
  };
  return { rows, clock, reader, writer };
}

const running = { policy: { maxAttempts: 3, backoffMs: 100 }, signal: new AbortController().signal };

async function wholeTurn(execute: (size: number) => Promise<{ hasMore: boolean }>, size: number, rounds: number) {
  for (let round = 0; round < rounds; round += 1) if (!(await execute(size)).hasMore) return;
}

test("a batch reports what it did and whether more is left", async () => {
  const { reader, writer } = table(5);
  const { execute } = await beginTurn(
    { reader, writer, publish: async ({ id }: Thing) => id !== "1" && (true as const) },
    running,
  );
  expect(await execute(3)).toEqual({ processed: 3, succeeded: 2, failed: 1, hasMore: true });
  expect(await execute(3)).toEqual({ processed: 2, succeeded: 2, failed: 0, hasMore: false });
});

test("one item's failure, answered or thrown, is its own", async () => {
  const { rows, reader, writer } = table(4);
  const publish = async ({ id }: Thing) => {
    if (id === "0") throw new Error("broken pipe");
    return id !== "1" && (true as const);
  };
  const { execute } = await beginTurn({ reader, writer, publish }, running);
  expect(await execute(10)).toMatchObject({ processed: 4, succeeded: 2, failed: 2 });
  expect(rows.map((row) => row.state)).toEqual(["PENDING", "PENDING", "PUBLISHED", "PUBLISHED"]);
});

test("no item is tried twice in a turn, however many batches it has", async () => {
  const { rows, clock, reader, writer } = table(30);
  const tried: string[] = [];
  const publish = async ({ id }: Thing) => {
    tried.push(id);
    clock.now += 1_000;
    return false as const;
  };
  const { execute } = await beginTurn({ reader, writer, publish }, running);
  await wholeTurn(execute, 10, 10);
  expect(new Set(tried).size).toBe(30);
  expect(tried).toHaveLength(30);
  expect(rows.every((row) => row.attempts === 1)).toBe(true);
});

test("the oldest items that never succeed do not starve the rest", async () => {
  const { rows, clock, reader, writer } = table(100);
  const refused = (id: string): boolean => Number(id) < 60;
  for (let turn = 0; turn < 3; turn += 1) {
    const { execute } = await beginTurn(
      { reader, writer, publish: async ({ id }: Thing) => !refused(id) && (true as const) },
      running,
    );
    // Fewer places than items that never succeed.
    await wholeTurn(execute, 10, 5);
    clock.now += 10;
  }
  expect(rows.filter((row) => !refused(row.id) && row.state !== "PUBLISHED")).toEqual([]);
});

test("an item that always fails is given up after its tries, with the waits doubling between", async () => {
  const { rows, clock, reader, writer } = table(1);
  const waits: number[] = [];
  for (let turn = 0; turn < 5; turn += 1) {
    const { execute } = await beginTurn({ reader, writer, publish: async () => false as const }, running);
    await execute(10);
    waits.push((rows[0]?.dueAt ?? 0) - clock.now);
    clock.now += 1_000;
  }
  expect(rows[0]).toMatchObject({ state: "FAILED", attempts: 3 });
  expect(waits.slice(0, 2)).toEqual([100, 200]);
});

test("an error that no further try heals ends the tries at once", async () => {
  const { rows, reader, writer } = table(1);
  const publish = async () => await Promise.reject(new PermanentError("HTTP 404"));
  const { execute } = await beginTurn({ reader, writer, publish }, running);
  expect(await execute(10)).toMatchObject({ failed: 1 });
  expect(rows[0]).toMatchObject({ state: "FAILED", attempts: 1 });
});

test("a worker's stop charges nothing to the item it cut off and tries no other", async () => {
  const { rows, reader, writer } = table(5);
  const stop = new AbortController();
  const publish = async ({ id }: Thing) => {
    if (id !== "2") return true as const;
    stop.abort();
    throw new Error("aborted");
  };
  const { execute } = await beginTurn({ reader, writer, publish }, { ...running, signal: stop.signal });
  expect(await execute(10)).toEqual({ processed: 2, succeeded: 2, failed: 0, hasMore: true });
  expect(rows.map((row) => row.attempts)).toEqual([1, 1, 0, 0, 0]);
});
