/** A process with one vitest and one Postgres server, which its parent may kill: a mutant may never end. */
import { relative, resolve } from "node:path";
import { createVitest, type TestModule, type TestSpecification, type Vitest } from "vitest/node";
import type { Chosen } from "./choose.ts";
import type { Mutant } from "./mutant.ts";
import { plant, planted } from "./planted.ts";

export type Order =
  /** Of these test files; null is all. */
  | { readonly is: "coverage"; readonly files: readonly string[] | null }
  | { readonly is: "mutant"; readonly mutant: Mutant; readonly waves: readonly (readonly Chosen[])[] };

export type Answer =
  | { readonly is: "ready" }
  /** One test file of a coverage run, or of a mutant's. */
  | { readonly is: "ran"; readonly file: string }
  | { readonly is: "covered"; readonly files: readonly Measured[] }
  | {
      readonly is: "judged";
      readonly key: string;
      readonly by: string | null;
      /** No assertion failed: the test waited until its time was over, which a busy machine can cause too. */
      readonly isTimeout: boolean;
      /** How many tests were asked for. */
      readonly tests: number;
    };

export interface Measured {
  readonly file: string;
  readonly ms: number;
  /** By name, in milliseconds. */
  readonly tests: Readonly<Record<string, number>>;
  readonly failed: boolean;
}

/** Their tests start processes, browsers and templates of their own: what is planted here does not reach those. */
const elsewhere = /^(console|house|image|infra|lambda|local|mutate|package|readme|smoke|emulator)\//;

const projects = ["pure", "patching", "postgres"];

let vitest: Vitest | null = null;
/** By path. */
let every: Map<string, TestSpecification> | null = null;

async function open(): Promise<Vitest> {
  vitest ??= await createVitest({
    watch: false,
    reporters: [{ onTestModuleEnd: ({ relativeModuleId }) => tell({ is: "ran", file: relativeModuleId }) }],
    config: resolve(import.meta.dirname, "vitest.config.ts"),
    project: projects,
    passWithNoTests: true,
  });
  return vitest;
}

async function cover(files: readonly string[] | null): Promise<Answer> {
  plant("coverage");
  const run = await open();
  const all = await run.globTestSpecifications();
  const asked = files === null ? null : new Set(files.map((file) => resolve(file)));
  const isHere = (path: string): boolean => {
    const name = relative(resolve("test"), path);
    return !elsewhere.test(name) && (asked?.has(path) ?? true);
  };
  const { testModules } = await run.runTestSpecifications(all.filter(({ moduleId }) => isHere(moduleId)));
  const measured = testModules.map((module) => ({
    file: module.relativeModuleId,
    ms: Math.round(module.diagnostic().duration),
    tests: Object.fromEntries(
      [...module.children.allTests("passed")].map((test) => [
        test.fullName,
        Math.round(test.diagnostic()?.duration ?? 0),
      ]),
    ),
    failed: module.state() === "failed",
  }));
  return { is: "covered", files: measured };
}

/** Runs the waves until a test fails. */
async function judge(mutant: Mutant, waves: readonly (readonly Chosen[])[]): Promise<Answer> {
  const last = planted();
  plant(mutant);
  const run = await open();
  for (const changed of [last, mutant]) {
    if (changed !== null && changed !== "coverage") run.invalidateFile(resolve(changed.file));
  }
  every ??= new Map((await run.globTestSpecifications()).map((one) => [one.moduleId, one]));
  let tests = 0;
  for (const wave of waves) {
    const specifications = wave.flatMap(({ file, tests: testNames }) => {
      const whole = every?.get(resolve(file));
      tests += testNames?.length ?? 1;
      if (whole === undefined || testNames === null) return whole ?? [];
      return [whole.project.createSpecification(whole.moduleId, { testNames: [...testNames] })];
    });
    run.config.bail = 1;
    const { testModules, unhandledErrors } = await run.runTestSpecifications(specifications);
    checkRan(wave, testModules);
    const ran = new Set(specifications.map(({ moduleId }) => moduleId));
    const failed = testModules.find((module) => ran.has(module.moduleId) && module.state() === "failed");
    const by = failed?.relativeModuleId ?? (unhandledErrors.length > 0 ? "an unhandled error" : null);
    if (by === null) continue;
    const { name, isTimeout } = firstFailure(failed);
    return { is: "judged", key: mutant.key, by: by + name, isTimeout, tests };
  }
  return { is: "judged", key: mutant.key, by: null, isTimeout: false, tests };
}

/** @throws Error when a test that was asked for did not run: a mutant must not survive for that. */
function checkRan(wave: readonly Chosen[], modules: readonly TestModule[]): void {
  if (modules.some((module) => module.state() === "failed")) return;
  const passed = new Map(modules.map((one) => [one.relativeModuleId, [...one.children.allTests("passed")]]));
  for (const { file, tests } of wave) {
    const names = new Set(passed.get(file)?.map(({ fullName }) => fullName));
    const missing = tests?.find((name) => !names.has(name)) ?? (names.size === 0 ? "every test" : undefined);
    if (missing !== undefined) throw new Error(`${file} did not run: ${missing}`);
  }
}

interface Failed {
  readonly children: { allTests(state: "failed"): Iterable<FailedTest> };
}
interface FailedTest {
  readonly fullName: string;
  result(): { readonly errors?: readonly { readonly message: string }[] | undefined };
}

function firstFailure(module: Failed | undefined): { name: string; isTimeout: boolean } {
  for (const test of module?.children.allTests("failed") ?? []) {
    const isTimeout = test.result().errors?.[0]?.message.includes("timed out in") ?? false;
    return { name: ` > ${test.fullName}`, isTimeout };
  }
  return { name: "", isTimeout: false };
}

const tell = (answer: Answer): void => void process.send?.(answer);

process.on("message", (order: Order) => {
  const answer = order.is === "coverage" ? cover(order.files) : judge(order.mutant, order.waves);
  answer.then(tell, (error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exit(1);
  });
});
// It leads a process group, whose test processes would go on without it.
process.on("disconnect", () => process.kill(-process.pid, "SIGKILL"));
tell({ is: "ready" });
