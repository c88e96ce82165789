import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Killers } from "../choose.ts";
import type { Coverage, Verdict } from "../kept.ts";
import type { Mutant } from "../mutant.ts";
import { writeModules } from "./catalog.ts";
import type { Line } from "./journal.ts";
import { type Order, Plan, type Round, type Try } from "./plan.ts";
import { runFiles } from "./runs.ts";

/** A test that damages its process so often is asked no more. */
const damagesMax = 3;

/** Tests that are asked together, and in which rounds. */
export interface Stage {
  readonly name: string;
  readonly files: readonly string[];
  readonly rounds: readonly Round[];
}

export interface Asked {
  readonly coverage: Coverage;
  /** Which tests found others, now and before. */
  readonly found: Killers;
  readonly stages: readonly Stage[];
  /** Of test processes. */
  readonly env: Readonly<Record<string, string>>;
  readonly say: (line: string) => void;
  readonly onVerdict: (verdict: Verdict) => void;
  /** Then it stops, and what was tried until then has its verdict. */
  readonly endMs: number;
}

/**
 * Judges mutants of the core in modules that contain them all, with tests that run again and again in one process.
 * @returns those that no such test reaches, but another may.
 */
export async function judgeSwitched(mutants: readonly Mutant[], asked: Asked): Promise<readonly Mutant[]> {
  const folder = mkdtempSync(join(tmpdir(), "belfry-modules-"));
  try {
    const { tries, fixed } = writeModules(folder, mutants);
    asked.say(`${tries.length} of ${mutants.length} mutants can be switched`);
    const court = new SwitchedCourt(tries, asked, { ...asked.env, BELFRY_SWITCHED: folder });
    for (const stage of asked.stages) await court.run(stage);
    const left = court.close();
    return mutants.filter(({ key }) => left.has(key) || fixed.has(key));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

class SwitchedCourt {
  readonly #alive: Map<string, Try>;
  readonly #plan: Plan;
  readonly #refused = new Set<string>();
  readonly #tests = new Map<string, number>();
  /** Survivors, by the number of tests that they had survived when it was said. */
  readonly #said = new Map<string, number>();
  readonly #damages = new Map<string, number>();
  readonly #asked: Asked;
  readonly #env: Readonly<Record<string, string>>;
  /** By test, what is still to be tried with it in this round. */
  #waiting = new Map<string, Try[]>();

  constructor(tries: readonly Try[], asked: Asked, env: Readonly<Record<string, string>>) {
    this.#alive = new Map(tries.map((one) => [one.key, one]));
    this.#asked = asked;
    this.#plan = new Plan(asked.coverage, asked.found);
    this.#env = env;
  }

  async run({ name, files, rounds }: Stage): Promise<void> {
    const { say, endMs } = this.#asked;
    for (const round of rounds) {
      const tries = [...this.#alive.values()].filter((one) => !round.untriedOnly || !this.#isTried(one));
      this.#waiting = this.#plan.next(tries, new Set(files), round);
      const chosen = Object.keys(this.#order());
      if (chosen.length === 0) continue;
      const on = (line: Line): void => this.#on(line);
      await runFiles({ files: chosen, order: () => this.#order(), on, say, endMs }, this.#env);
      const tests = `${this.#waiting.size} tests, ${this.#refused.size} so far cannot be repeated`;
      say(`${name}, up to ${round.msMax / 1_000} s for each mutant, ${tests}: ${this.#alive.size} not found`);
    }
    // A later stage may find it all the same: then that replaces the verdict.
    for (const { key } of this.#alive.values()) {
      const tests = this.#tests.get(key) ?? 0;
      if (tests === (this.#said.get(key) ?? 0)) continue;
      this.#said.set(key, tests);
      this.#say(key, "survived", null);
    }
  }

  /** Says what nothing enters. @returns keys that no test was tried with although one enters them. */
  close(): ReadonlySet<string> {
    const untried = [...this.#alive.values()].filter((one) => !this.#isTried(one));
    const [entered, unentered] = [true, false].map((is) => untried.filter((one) => this.#plan.isEntered(one) === is));
    for (const { key } of unentered ?? []) this.#say(key, "unreached", null);
    return new Set(entered?.map(({ key }) => key));
  }

  #isTried = ({ key }: Try): boolean => (this.#tests.get(key) ?? 0) > 0;

  #order(): Order {
    const waiting = [...this.#waiting].map(
      ([name, tries]) => [name, tries.filter(({ key }) => this.#alive.has(key))] as const,
    );
    return this.#plan.order(new Map(waiting));
  }

  #on(line: Line): void {
    if (line.is === "refused") this.#distrust(line.name);
    if (line.is === "damaged") {
      this.#forget(line.name, line.key);
      const count = (this.#damages.get(line.name) ?? 0) + 1;
      this.#damages.set(line.name, count);
      if (count >= damagesMax) this.#distrust(line.name);
    }
    if (line.is !== "tried") return;
    this.#forget(line.name, line.key);
    if (line.how === "unentered") return;
    this.#tests.set(line.key, (this.#tests.get(line.key) ?? 0) + 1);
    const one = this.#alive.get(line.key);
    if (line.how === "survived" || one === undefined) return;
    this.#asked.found.add(one, line.name);
    this.#alive.delete(line.key);
    this.#say(line.key, line.how, line.name);
  }

  #distrust(name: string): void {
    this.#plan.distrust(name);
    this.#refused.add(name);
    this.#waiting.set(name, []);
  }

  #forget(name: string, key: string): void {
    const rest = (this.#waiting.get(name) ?? []).filter((one) => one.key !== key);
    this.#waiting.set(name, rest);
  }

  #say(key: string, is: Verdict["is"], by: string | null): void {
    this.#asked.onVerdict({ key, is, by, tests: this.#tests.get(key) ?? 0, ms: 0 });
  }
}
