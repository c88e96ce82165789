import { appendFileSync } from "node:fs";
import { afterAll, afterEach, beforeEach, expect } from "vitest";

/** A coverage run writes one line for each test file: what of the mutated places each of its tests reaches. */
const outside = new Set<string>();
const byTest = new Map<string, Set<string>>();
globalThis.belfryHits = outside;

beforeEach(({ task }) => {
  const hits = byTest.get(task.fullTestName) ?? new Set<string>();
  byTest.set(task.fullTestName, hits);
  globalThis.belfryHits = hits;
});

// What is reached between two tests counts for all of the file: it may be the set-up of any.
afterEach(() => {
  globalThis.belfryHits = outside;
});

afterAll(() => {
  const file = process.env["BELFRY_HITS_FILE"];
  if (file === undefined) throw new Error("BELFRY_HITS_FILE is not set");
  const tests = Object.fromEntries([...byTest].map(([name, hits]) => [name, [...hits]]));
  appendFileSync(file, `${JSON.stringify({ file: expect.getState().testPath, outside: [...outside], tests })}\n`);
});
