/** Runs a test as often as there are mutants to try with it, each time with its hooks. Vitest loads it in each test process. */
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { type RunnerTestCase, type RunnerTestFile, TestRunner } from "vitest";
import { type Line, nameOf, write } from "./journal.ts";
import type { Order, Try } from "./plan.ts";
import { after, type At, forget, type Limits, realNow, Switches, unlimited } from "./switches.ts";

globalThis.belfrySwitch ??= new Switches();
const switches = globalThis.belfrySwitch;

/** Of a run without a mutant; far above what a busy machine needs. */
const cleanMsMax = 120_000;

/** A run with one hangs when it takes so many times what it takes without, and more than this. */
const slower = 10;
const limitsMin: Limits = { ms: 4_000, ticks: 2_000_000 };

type Turn = { readonly is: "clean" } | { readonly is: "try"; readonly mutant: Try } | { readonly is: "stop" };

/** What is left to do with the test that runs. */
interface Work {
  readonly name: string;
  turns: Turn[];
  turn: Turn;
  /** Of those at its beginning, which show that it can be repeated. */
  cleanRuns: number;
  limits: Limits;
  startMs: number;
  timedOut: boolean;
  /** Found, unless the clean run after it fails. */
  found: { readonly key: string; readonly how: "killed" | "hung" } | null;
}

const read = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
};

/** Kept with the process: a process of several files loads this module for each. */
const store = globalThis as { belfryDead?: Set<string> };
const dead = (store.belfryDead ??= new Set());

export default class SwitchingRunner extends TestRunner {
  readonly #journal = read("BELFRY_JOURNAL");
  readonly #order = JSON.parse(readFileSync(read("BELFRY_ORDER"), "utf8")) as Order;
  #work: Work | null = null;

  override onCollectStart(file: RunnerTestFile): void {
    super.onCollectStart(file);
    this.#write({ is: "file", file: pathOf(file) });
  }

  override onAfterRunFiles(files: RunnerTestFile[]): void {
    super.onAfterRunFiles(files);
    for (const file of files) this.#write({ is: "file ended", file: pathOf(file) });
  }

  override async onBeforeRunTask(test: RunnerTestCase): Promise<void> {
    await super.onBeforeRunTask(test);
    this.#work = null;
    if (test.mode !== "run" && test.mode !== "queued") return;
    const file = pathOf(test.file);
    const order = this.#order[file];
    const tries = order?.tests[test.fullTestName];
    if (tries === undefined) {
      if (order?.without.includes(test.fullTestName) === true) test.mode = "skip";
      return;
    }
    const turns: Turn[] = [{ is: "clean" }, { is: "clean" }];
    for (const mutant of tries) turns.push({ is: "try", mutant });
    const name = nameOf(file, test.fullTestName);
    const begin = { cleanRuns: 0, limits: unlimited, startMs: 0, timedOut: false, found: null };
    this.#work = { name, turns, turn: { is: "stop" }, ...begin };
    test.retry = 0;
    // Each mutant may need a clean run after it; the last turn ends it all.
    test.repeats = 2 * turns.length;
  }

  override onBeforeTryTask(test: RunnerTestCase, options: { retry: number; repeats: number }): void {
    super.onBeforeTryTask(test, options);
    const work = this.#work;
    if (work === null) return switches.begin(null, unlimited);
    do work.turn = work.turns.shift() ?? { is: "stop" };
    while (work.turn.is === "try" && dead.has(work.turn.mutant.key));
    const { turn, name, limits } = work;
    if (turn.is === "try") this.#write({ is: "try", name, key: turn.mutant.key, limitMs: limits.ms });
    else this.#write({ is: "clean", name, limitMs: cleanMsMax });
    work.timedOut = false;
    work.startMs = realNow();
    switches.begin(turn.is === "try" ? turn.mutant : null, turn.is === "try" ? limits : unlimited);
  }

  async runTask(test: RunnerTestCase): Promise<void> {
    const run = TestRunner.getTestFn(test);
    const work = this.#work;
    const { skip } = test.context;
    // Not before its hooks: those after it undo what those before it did.
    if (work?.turn.is === "stop") skip();
    if (work?.turn.is !== "try") {
      await run();
      return;
    }
    let timer: ReturnType<typeof after> | undefined;
    const limit = new Promise<never>((_, fail) => {
      timer = after(() => {
        work.timedOut = true;
        fail(new Error("the test does not end"));
      }, work.limits.ms);
    });
    try {
      await Promise.race([run(), limit]);
    } finally {
      forget(timer);
    }
  }

  override async onAfterRetryTask(test: RunnerTestCase, options: { retry: number; repeats: number }): Promise<void> {
    await super.onAfterRetryTask(test, options);
    const work = this.#work;
    if (work === null || work.turn.is === "stop" || test.result === undefined) return switches.end();
    const passed = test.result.state !== "fail";
    const ms = realNow() - work.startMs;
    if (work.turn.is === "try") this.#tried(work, work.turn.mutant.key, passed);
    else await this.#clean(work, passed, ms);
    switches.end();
    test.result.state = "pass";
    delete test.result.errors;
  }

  #tried(work: Work, key: string, passed: boolean): void {
    if (passed && !switches.ranAway) return this.#write({ is: "tried", name: work.name, key, how: "survived" });
    work.found = { key, how: work.timedOut || switches.ranAway ? "hung" : "killed" };
    work.turns.unshift({ is: "clean" });
  }

  async #clean(work: Work, passed: boolean, ms: number): Promise<void> {
    const { found, name } = work;
    work.found = null;
    if (passed) {
      if (found === null) return this.#repeated(work, ms);
      dead.add(found.key);
      return this.#write({ is: "tried", name, ...found });
    }
    work.turns = [];
    if (found === null) return this.#write({ is: "refused", name });
    this.#write({ is: "damaged", name, key: found.key });
    // The parent ends this process.
    await new Promise(() => {});
  }

  /** After the second run, what is known of every further one: what it takes and what it enters. */
  #repeated(work: Work, ms: number): void {
    work.cleanRuns += 1;
    if (work.cleanRuns < 2) return;
    work.limits = {
      ms: Math.max(limitsMin.ms, slower * ms),
      ticks: Math.max(limitsMin.ticks, slower * switches.ticks),
    };
    const entered = new Set(switches.entered().map(idOf));
    work.turns = work.turns.filter((turn) => {
      if (turn.is !== "try" || entered.has(idOf(turn.mutant))) return true;
      this.#write({ is: "tried", name: work.name, key: turn.mutant.key, how: "unentered" });
      return false;
    });
  }

  #write(line: Line): void {
    write(this.#journal, line);
  }
}

const pathOf = (file: { readonly filepath: string }): string => relative(process.cwd(), file.filepath);

const idOf = ({ file, at }: At): string => `${file}#${at}`;
