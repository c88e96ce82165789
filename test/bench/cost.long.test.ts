/** The table "What a job costs" of docs/scale.md, measured again: what of it does not depend on the machine. */
import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { type Cost, costOf, middle } from "../../bench/cost/cost.ts";
import { works } from "../../bench/cost/works.ts";
import { openGround } from "../../bench/ground.ts";
import { scaleTarget } from "../../scripts/costs.ts";
import { measuredIn } from "../../scripts/costs/scale.ts";

/** As many as the page's rounds had: pages of tables and indexes that are not full yet are a part of what is kept. */
const jobs = 1_000;
/** As parts of the page's figure, which is the middle of three rounds. */
const within = { walBytes: 0.1, statements: 0.1, sqsCalls: 0.1, logBytes: 0.03, keptBytes: 0.1 } as const;
/** The page has two decimals. */
const rounding = 0.005;

test("a job of each kind of work costs what docs/scale.md says; write it again with `npm run bench -- cost`", async () => {
  const page = measuredIn(readFileSync(scaleTarget, "utf8"));
  const ground = await openGround();
  onTestFinished(() => ground.close());
  expect(works.map(({ name }) => name)).toEqual([...page.keys()]);
  const wrongIn = (cost: Cost): readonly string[] =>
    Object.entries(within).flatMap(([name, share]) => {
      const field = name as keyof typeof within;
      const said = page.get(cost.work)?.[field] ?? 0;
      const isNear = Math.abs(cost[field] - said) <= share * said + rounding;
      return isNear ? [] : [`${cost.work}: ${field} ${cost[field]}, not ${said}`];
    });
  const wrong: string[] = [];
  for (const work of works) {
    const rounds = [await costOf(ground, work, jobs)];
    // A machine that is slow for a while writes more: then the middle of three counts, as on the page.
    while (rounds.length < 3 && wrongIn(middle(work.name, rounds)).length > 0)
      rounds.push(await costOf(ground, work, jobs), await costOf(ground, work, jobs));
    wrong.push(...wrongIn(middle(work.name, rounds)));
  }
  expect(wrong).toEqual([]);
}, 600_000);
