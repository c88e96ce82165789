import { array, sample } from "fast-check";
import { describe, expect, test } from "vitest";
import { anyStep, expectEqualRows, openPair } from "../../model/model.ts";
import { operationsTour } from "../operations-tour.ts";
import { tour } from "../tour.ts";
import { looks } from "./looks.ts";
import { restTour, retention } from "./rest-tour.ts";
import { linesOf, watchedServer } from "./run.ts";
import type { Effects } from "./watch.ts";

const open = watchedServer();

test("each statement of a system's daily life, used twice, answers and writes what daily.txt says", async () => {
  const seen: Effects = new Map();
  const world = await open(seen);
  for (const tag of ["first", "second"]) {
    await tour(world.store, world.clock, tag);
    await operationsTour(world.connections);
    await restTour(world, tag);
    await looks(world);
    await retention(world);
  }
  await world.close();
  await expect(linesOf(seen)).toMatchFileSnapshot("./daily.txt");
});

describe("random walks of the model under the watcher", () => {
  const seen: Effects = new Map();
  const walks = sample(array(anyStep, { minLength: 60, maxLength: 60 }), { seed: 21, numRuns: 12 });

  test.each(walks.map((steps, n) => ({ steps, n: n + 1 })))("walk $n is the reference store's", async ({ steps }) => {
    const world = await open(seen);
    const { pair, close } = await openPair(undefined, () => Promise.resolve(world));
    for (const step of steps) await step.run(pair);
    await expectEqualRows(pair);
    await looks(world);
    expect(pair.jobs.length).toBeGreaterThan(0);
    await close();
  });

  test("each statement answered and wrote, row for row, what walks.txt says", async () => {
    await expect(linesOf(seen)).toMatchFileSnapshot("./walks.txt");
  });
});
