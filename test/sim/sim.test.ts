import { describe, expect, test } from "vitest";
import { flowMutants } from "./mutants/flow-control.ts";
import { mutantNamed, mutants } from "./mutants/index.ts";
import { simulate } from "./simulate.ts";

async function traced(seed: number) {
  const lines: string[] = [];
  const run = await simulate(seed, { trace: (line) => lines.push(line) });
  return { run, lines };
}
const once = new Map<number, ReturnType<typeof traced>>();
/** The first run of the seed in this file. */
function firstOf(seed: number): ReturnType<typeof traced> {
  const known = once.get(seed) ?? traced(seed);
  once.set(seed, known);
  return known;
}

describe("the simulation", () => {
  test("the real core keeps every promise through crashes, stops and outages, which its runs are full of", async () => {
    const lines: string[] = [];
    for (let seed = 1; seed <= 8; seed += 1) {
      const { run, lines: own } = await firstOf(seed);
      lines.push(...own);
      expect({ seed, ...run }).toMatchObject({ seed, violations: [] });
    }
    const words = ["stopped for", "asked to stop", "ended: ", "UnknownOutcome", "connection refused", "gives back"];
    expect(words.filter((word) => !lines.some((line) => line.includes(word)))).toEqual([]);
  });

  test("keeps them without the net for lost messages, when the queue loses none", async () => {
    for (let seed = 101; seed <= 104; seed += 1) {
      expect({ seed, ...(await simulate(seed, { without: ["requeue"] })) }).toMatchObject({ seed, violations: [] });
    }
  });

  test("a seed replays its run to the byte, whatever ran before it", async () => {
    const { lines: first } = await firstOf(7);
    expect(first.length).toBeGreaterThan(200);
    expect((await firstOf(8)).lines).not.toEqual(first);
    expect((await traced(7)).lines).toEqual(first);
  });
});

describe("planted bugs", () => {
  test("there are at least twelve, each with a name and a sentence of its own", () => {
    expect(mutants.length).toBeGreaterThanOrEqual(12);
    expect(new Set(mutants.map((mutant) => mutant.name)).size).toBe(mutants.length);
    expect(new Set(mutants.map((mutant) => mutant.bug)).size).toBe(mutants.length);
  });

  test.each([
    "ignored-failed",
    "relay-by-last-id",
    "rescue-without-lease",
    "claim-before-due",
    "wall-clock-lease",
    "message-returned-to-wait",
    ...flowMutants.map(({ name }) => name),
  ])("%s is found at once", async (name) => {
    const { violations } = await firstBroken(name);
    expect(violations).not.toEqual([]);
  });

  test("an unknown name is refused with the list of known ones", () => {
    expect(() => mutantNamed("no-such-bug")).toThrow(/unknown mutant "no-such-bug": one of .*no-fence/);
  });
});

/** Few runs have more messages than the rate lets through in a window, or many retries at once. */
const firstSeeds: Readonly<Record<string, number>> = { "rate-without-window": 48, "retries-without-budget": 70 };

async function firstBroken(name: string): ReturnType<typeof simulate> {
  const first = firstSeeds[name] ?? 1;
  for (let seed = first; ; seed += 1) {
    const run = await simulate(seed, mutantNamed(name));
    if (run.violations.length > 0 || seed === first + 40) return run;
  }
}
