import { expect, test } from "vitest";
import { createRateLimiter } from "../../src/run/worker-scope.ts";
import { settableClock } from "./settable-clock.ts";

/** When each of `callers` got its turn; false: it was refused. All ask now. */
async function turns(callers: number, bounds: { intervalMs: number; waitingMax: number }, startMs = 0) {
  const clock = settableClock();
  await clock.advance(startMs);
  const limiter = createRateLimiter(clock, bounds);
  const all = Array.from({ length: callers }, async () => (await limiter.acquire()) && clock.elapsedMs());
  await clock.advance(10_000);
  return Promise.all(all);
}

test("callers get their turns an interval apart, and those beyond the places to wait are refused", async () => {
  expect(await turns(6, { intervalMs: 100, waitingMax: 3 }, 50)).toEqual([50, 150, 250, 350, false, false]);
  expect(await turns(2, { intervalMs: 100, waitingMax: 0 })).toEqual([0, false]);
});

test("an interval of a millisecond is kept", async () => {
  expect(await turns(3, { intervalMs: 1, waitingMax: 9 })).toEqual([0, 1, 2]);
});

test("a refused caller takes no turn, and a place is free again after an interval", async () => {
  const clock = settableClock();
  const limiter = createRateLimiter(clock, { intervalMs: 100, waitingMax: 1 });
  const first = [limiter.acquire(), limiter.acquire(), limiter.acquire()];
  await clock.advance(100);
  expect(await Promise.all(first)).toEqual([true, true, false]);
  const startedMs = clock.elapsedMs();
  const next = limiter.acquire().then((isTurn) => isTurn && clock.elapsedMs() - startedMs);
  await clock.advance(1_000);
  expect(await next).toBe(100);
  expect(await limiter.acquire()).toBe(true);
});
