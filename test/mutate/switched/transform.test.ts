import { stripTypeScriptTypes } from "node:module";
import { expect, test } from "vitest";
import { coreEdits } from "../core-edits.ts";
import { type Mutant, mutantOf } from "../mutant.ts";
import { isFunction, parse, walk } from "../syntax.ts";
import { Switches, unlimited } from "./switches.ts";
import { switched } from "./transform.ts";

function mutantsOf(source: string): Mutant[] {
  const found: Mutant[] = [];
  walk(parse("x.ts", source), (node) => {
    const place = { file: "x.ts", name: "f", start: node.start, end: node.end };
    if (isFunction(node))
      for (const edit of coreEdits(source, node, isFunction)) found.push(mutantOf(source, place, edit));
    return true;
  });
  return found;
}

interface Loaded {
  readonly module: Readonly<Record<string, (...args: unknown[]) => unknown>>;
  readonly switches: Switches;
  readonly fixed: readonly string[];
  /** Switches the mutant on whose change turns this text into that. */
  on(before: string, after: string): void;
}

async function loaded(source: string): Promise<Loaded> {
  const mutants = mutantsOf(source);
  const { code, functions, fixed } = switched("x.ts", source, mutants);
  const switches = new Switches();
  globalThis.belfrySwitch = switches;
  const text = `${stripTypeScriptTypes(code)}// ${Math.random()}`;
  const module = (await import(`data:text/javascript,${encodeURIComponent(text)}`)) as Loaded["module"];
  return {
    module,
    switches,
    fixed,
    on(before, after) {
      const found = mutants.filter((mutant) => mutant.before === before && mutant.after === after);
      const [mutant] = found;
      if (mutant === undefined || found.length > 1)
        throw new Error(`${found.length} mutants are ${before} -> ${after}`);
      const at = functions.findIndex((keys) => keys.includes(mutant.key));
      switches.begin({ file: "x.ts", at, key: mutant.key }, unlimited);
    },
  };
}

test("a change that takes a loop away takes its tick away too", async () => {
  const { module, on } = await loaded(
    "export function summed(list: readonly number[], isWhole: boolean) { let sum = 0; if (isWhole) sum = 1; else for (const each of list) sum += each; return sum; }",
  );
  expect([module["summed"]?.([2, 3], false), module["summed"]?.([2, 3], true)]).toEqual([5, 1]);
  on("if (isWhole) sum = 1; else for (const each of list) sum += each;", "if (isWhole) sum = 1;");
  expect([module["summed"]?.([2, 3], false), module["summed"]?.([2, 3], true)]).toEqual([0, 1]);
});

test("one module has every mutant, and is as it was while none is switched on", async () => {
  const { module, switches, on } = await loaded(
    "export const isOld = (age: number): boolean => age >= 65;\nexport function isChild(age: number) { return age < 18; }",
  );
  expect([module["isOld"]?.(65), module["isChild"]?.(18)]).toEqual([true, false]);
  on("age >= 65", "age > 65");
  expect([module["isOld"]?.(65), module["isChild"]?.(18)]).toEqual([false, false]);
  on("age < 18", "age <= 18");
  expect([module["isOld"]?.(65), module["isChild"]?.(18)]).toEqual([true, true]);
  switches.begin(null, unlimited);
  expect([module["isOld"]?.(65), module["isChild"]?.(18)]).toEqual([true, false]);
});

test("a changed body keeps its this, its super, its await and its yield", async () => {
  const { module, on } = await loaded(`
    class Base { add(n: number) { return n + 1; } }
    class Sum extends Base {
      #sum = 10;
      get sum() { return this.#sum - 2; }
      override add(n: number) { return super.add(n) * 3; }
    }
    export const sum = (): number => new Sum().sum;
    export const added = (): number => new Sum().add(1);
    export async function later(n: Promise<number>) { return (await n) / 4; }
    export function* numbers(n: number) { yield n % 5; yield* [n]; }
    export const object = (n: number) => ({ n: n > 6 });`);
  on("this.#sum - 2", "this.#sum + 2");
  expect(module["sum"]?.()).toBe(12);
  on("super.add(n) * 3", "super.add(n) / 3");
  expect(module["added"]?.()).toBeCloseTo(2 / 3);
  on("(await n) / 4", "(await n) * 4");
  expect(await module["later"]?.(Promise.resolve(4))).toBe(16);
  on("n % 5", "n * 5");
  expect([...((module["numbers"]?.(7) ?? []) as Iterable<number>)]).toEqual([35, 7]);
  on("n > 6", "n < 6");
  expect(module["object"]?.(7)).toEqual({ n: false });
});

test("a closure that was made before changes too", async () => {
  const { module, on } = await loaded(
    "export const counter = () => { let n = 0; return { next: () => (n += 1 + 0) }; };",
  );
  const made = module["counter"]?.() as { next(): number };
  on("1", "2");
  expect([made.next(), made.next()]).toEqual([2, 4]);
});

test("a loop without an end is stopped, also where the code catches what stopped it", async () => {
  const source = `export function count(to: number) {
    let n = 0;
    for (;;) { try { while (n < to) n += 1; return n; } catch { if (n < 0) return -1; } }
  }`;
  const { module, switches } = await loaded(source);
  expect(module["count"]?.(1_000)).toBe(1_000);
  switches.begin(null, { ms: 60_000, ticks: 5_000 });
  expect(() => module["count"]?.(Infinity)).toThrow("a loop does not end");
  expect(switches.ranAway).toBe(true);
});

test("what was entered is known, and what a module remembers is forgotten with each mutant", async () => {
  const { module, switches } = await loaded(`
    const known = new Map<number, boolean>();
    export const size = () => known.size + 0;
    export function isEven(n: number) {
      const kept = known.get(n) ?? n % 2 === 0;
      known.set(n, kept);
      return kept;
    }`);
  switches.begin(null, unlimited);
  module["isEven"]?.(3);
  expect(switches.entered()).toEqual([{ file: "x.ts", at: 1 }]);
  expect(module["size"]?.()).toBe(1);
  switches.begin(null, unlimited);
  expect(module["size"]?.()).toBe(0);
});

test("a mutant outside each body cannot be switched", async () => {
  const { fixed, module } = await loaded("export function first(n = 1) { return n; }");
  expect(fixed).toHaveLength(1);
  expect(module["first"]?.()).toBe(1);
});
