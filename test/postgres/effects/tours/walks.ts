import { array, sample } from "fast-check";
import { anyStep, expectEqualRows, openPair } from "../../../model/model.ts";
import type { Step } from "../../../model/step.ts";
import type { Tour, World } from "../tour.ts";

const seed = 20;
const count = 12;
const steps = 60;

/** Random walks of the model: the reference store goes along, and its answers are compared. */
export const walks: Tour = {
  name: "walks",
  parts: sample(array(anyStep, { minLength: steps, maxLength: steps }), { seed, numRuns: count }).map(
    (sequence) => (world) => walk(world, sequence),
  ),
};

async function walk(world: World, sequence: readonly Step[]): Promise<void> {
  const { pair } = await openPair(undefined, () => Promise.resolve({ ...world, close: async () => {} }));
  for (const { run } of sequence) await run(pair);
  await expectEqualRows(pair);
}
