import { appendFileSync } from "node:fs";
import { afterAll, expect } from "vitest";

/** A coverage run writes one line for each test file: what of the mutated places it reaches. */
const hits = new Set<string>();
globalThis.belfryHits = hits;

afterAll(() => {
  const file = process.env["BELFRY_HITS_FILE"];
  if (file === undefined) throw new Error("BELFRY_HITS_FILE is not set");
  appendFileSync(file, `${JSON.stringify({ file: expect.getState().testPath, hits: [...hits] })}\n`);
});
