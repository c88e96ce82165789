import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Killers } from "../choose.ts";
import type { Verdict } from "../kept.ts";
import type { Mutant } from "../mutant.ts";
import { functionHit } from "../instrument.ts";
import { changesOf } from "../places.ts";
import { judgeSwitched } from "./judge.ts";

const here = relative(process.cwd(), import.meta.dirname);

/** In the project, so that the tests of the small project find vitest; git ignores it. */
function project(files: Readonly<Record<string, string>>): string {
  mkdirSync(".mutate", { recursive: true });
  const folder = mkdtempSync(".mutate/planted-");
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const config = `import { plugin, runner } from "../../${here}/plugin.ts";
    const test = { name: "pure", include: ["${folder}/*.test.ts"], maxWorkers: 1, isolate: false, runner, update: "none" };
    export default { root: process.cwd(), plugins: [plugin], test };`;
  for (const [name, text] of Object.entries({ ...files, "vitest.config.ts": config }))
    writeFileSync(join(folder, name), text);
  return folder;
}

interface Judged {
  readonly verdicts: ReadonlyMap<string, Verdict["is"]>;
  readonly left: readonly string[];
  readonly said: readonly string[];
}

const describe = ({ place, before, after }: Mutant): string => `${place}: ${before} -> ${after}`;

/** Every verdict of the mutants of `x.ts` by `x.test.ts`, whose tests enter all but these functions. */
async function judged(source: string, tests: string, unentered: readonly string[] = []): Promise<Judged> {
  const folder = project({ "x.ts": source, "x.test.ts": `import { expect, test } from "vitest";\n${tests}` });
  const mutants = changesOf(`${folder}/x.ts`).map(({ mutant }) => mutant);
  const file = `${folder}/x.test.ts`;
  const names = [...tests.matchAll(/test\("([^"]+)"/g)].map(([, name = ""]) => name);
  const entered = mutants.filter(({ place }) => !unentered.includes(place));
  const hits = Object.fromEntries(entered.map((mutant) => [functionHit(mutant.file, mutant.place), { [file]: names }]));
  const ms = { [file]: { file: 10, tests: Object.fromEntries(names.map((name) => [name, 1])) } };
  const byKey = new Map(mutants.map((mutant) => [mutant.key, describe(mutant)]));
  const verdicts = new Map<string, Verdict["is"]>();
  const said: string[] = [];
  const left = await judgeSwitched(mutants, {
    coverage: { commit: "01234567", hits, ms, breadth: {} },
    found: new Killers(),
    stages: [{ name: "planted", files: [file], rounds: [{ untriedOnly: false, testsMax: 9, msMax: 60_000 }] }],
    env: { BELFRY_VITEST_CONFIG: join(process.cwd(), folder, "vitest.config.ts") },
    say: (line) => said.push(line),
    onVerdict: ({ key, is }) => verdicts.set(byKey.get(key) ?? key, is),
    endMs: Infinity,
  });
  return { verdicts, left: left.map(describe), said };
}

test("a mutant that a test notices is killed, one that none notices survives, one that none enters is unreached", async () => {
  const { verdicts, left } = await judged(
    `export const isOld = (age: number) => age >= 65;
     export async function* pages(n: number) { yield n * 2; }
     export const unused = (n: number) => n / 2;`,
    `import { isOld, pages } from "./x.ts";
     test("65 is old", () => expect([isOld(65), isOld(64)]).toEqual([true, false]));
     test("no page is read to its end", async () => { for await (const page of pages(1)) expect(page).toBeGreaterThan(0); });`,
    ["unused"],
  );
  expect(Object.fromEntries(verdicts)).toEqual({
    "isOld: age >= 65 -> age > 65": "killed",
    "isOld: age >= 65 -> age < 65": "killed",
    "isOld: 65 -> 66": "killed",
    "pages: n * 2 -> n / 2": "survived",
    "pages: 2 -> 3": "survived",
    "unused: n / 2 -> n * 2": "unreached",
    "unused: 2 -> 3": "unreached",
  });
  expect(left).toEqual([]);
});

test("what never ends is stopped: a loop, a promise, and a loop that is not of the mutated code", async () => {
  const { verdicts } = await judged(
    `export function sum(to: number) { let n = 0; for (let i = 0; i < to; i += 1) n += i; return n; }
     export const wakes = (n: number) => n > 3;
     export const isDone = (n: number) => n === 4;`,
    `import { isDone, sum, wakes } from "./x.ts";
     test("a sum", () => expect(sum(4)).toBe(6));
     test("a promise", () => new Promise<void>((done) => { if (wakes(5)) done(); }));
     test("a wait", () => { let n = 0; while (!isDone(n)) n = Math.min(4, n + 1); });`,
  );
  expect(verdicts.get("wakes: n > 3 -> n < 3")).toBe("hung");
  expect(verdicts.get("isDone: 4 -> 5")).toBe("hung");
  expect(verdicts.get("isDone: n === 4 -> n !== 4")).toBe("survived");
  expect(verdicts.get("sum: 1 -> 2")).toBe("killed");
  expect(verdicts.get("sum: i < to -> i > to")).toBe("killed");
});

test("a test that cannot be repeated finds nothing, and says so", async () => {
  const { verdicts, left, said } = await judged(
    `export const half = (n: number) => n / 2;
     export const third = (n: number) => n / 3;`,
    `import { half, third } from "./x.ts";
     let runs = 0;
     test("once", () => { runs += 1; expect([runs, half(4)]).toEqual([1, 2]); });
     test("always", () => expect(third(9)).toBe(3));`,
  );
  expect(said).toContain("planted, up to 60 s for each mutant, 2 tests, 1 so far cannot be repeated: 2 not found");
  expect(left).toEqual(["half: n / 2 -> n * 2", "half: 2 -> 3"]);
  expect(verdicts.get("third: n / 3 -> n * 3")).toBe("killed");
});

test("what a mutant leaves behind is not believed of the next", async () => {
  const { verdicts, left } = await judged(
    `export const keeps = (n: number) => n > 1;`,
    `import { keeps } from "./x.ts";
     let kept = true;
     test("all is kept", () => { kept &&= keeps(2); expect(kept).toBe(true); });`,
  );
  expect(Object.fromEntries(verdicts)).toEqual({ "keeps: n > 1 -> n >= 1": "survived" });
  expect(left).toEqual(["keeps: n > 1 -> n < 1", "keeps: 1 -> 2"]);
});

test("the hooks of a test run with each mutant", async () => {
  const { verdicts } = await judged(
    `export const start = () => [1, 2];`,
    `import { afterEach, beforeEach } from "vitest";
     import { start } from "./x.ts";
     let list: number[] = [];
     beforeEach(() => { list = start(); });
     afterEach(() => { list = []; });
     test("two begin", () => expect(list).toHaveLength(2));`,
  );
  expect(verdicts.get("start: 1,  -> ")).toBe("killed");
});
