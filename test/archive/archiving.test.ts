import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { archiving } from "../../src/core/scheduler/archive.ts";
import type { ArchiveBatch, ArchivePart, ArchiveSource } from "../../src/core/ports/archive.ts";
import { passLimits } from "../../src/core/scheduler/pass-limits.ts";
import { archiveLimits } from "../../src/core/scheduler/archive-limits.ts";
import { settableClock } from "../core/settable-clock.ts";

const batchOf = (part: ArchivePart, isFull: boolean): ArchiveBatch => ({ part, rows: [], isFull, leaving: null });

/** Archives so many full batches of jobs, then one that is not full, until it is stopped. */
function opened({ full, left = true, fails = false }: { full: number; left?: boolean; fails?: boolean }) {
  const clock = settableClock();
  const ended = new AbortController();
  const written: { readonly isFull: boolean; readonly atMs: number }[] = [];
  let asked = 0;
  const source: ArchiveSource = {
    async next(part) {
      if (part === "jobs") asked += 1;
      const isFull = part === "jobs" && written.length < full;
      return isFull || (part === "jobs" && written.length === full) ? batchOf(part, isFull) : null;
    },
    leave: async () => left,
    failed: async () => {},
  };
  const quiet = { info() {}, warn() {}, error() {}, debug() {} };
  const ports = { clock, log: quiet, metrics: { add() {} }, crashPoint: async () => {} };
  const write = async ({ isFull }: ArchiveBatch) => {
    if (fails) throw new Error("AccessDenied");
    await setImmediate();
    written.push({ isFull, atMs: clock.elapsedMs() });
    return { objects: 1, bytes: 1 };
  };
  const running = archiving(ports as unknown as Parameters<typeof archiving>[0], { source, write }, ended.signal);
  return { clock, ended, written, running, asked: () => asked };
}

test("while batches are full it goes on at once, and pauses after one that is not", async () => {
  const { clock, ended, written, running } = opened({ full: 50 });
  while (written.length < 51) await clock.settle();
  expect(new Set(written.map(({ atMs }) => atMs))).toEqual(new Set([0]));
  await clock.settle();
  expect(written).toHaveLength(51);
  ended.abort();
  await running;
});

test("a full batch that another process deletes is followed by a pause", async () => {
  const { clock, ended, written, running } = opened({ full: 50, left: false });
  await clock.settle();
  expect(written).toHaveLength(1);
  await clock.advance(passLimits.passIntervalMs);
  expect(written).toHaveLength(2);
  ended.abort();
  await running;
});

test("a store that refuses is asked again after its wait, and not in a loop", async () => {
  const { clock, ended, asked, running } = opened({ full: 50, fails: true });
  await clock.settle();
  expect(asked()).toBe(1);
  await clock.advance(archiveLimits.retryMs - 1);
  expect(asked()).toBe(1);
  await clock.advance(passLimits.passIntervalMs);
  expect(asked()).toBe(2);
  ended.abort();
  await running;
});

test("a stop ends it between two batches, however many wait", async () => {
  const { clock, ended, written, running } = opened({ full: 1_000_000 });
  while (written.length < 5) await clock.settle();
  ended.abort();
  await running;
  expect(written.length).toBeLessThan(50);
  expect(clock.pending()).toBe(0);
});
