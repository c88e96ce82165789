/** A process with one vitest and one Postgres server, which its parent may kill: a mutant may never end. */
import { relative, resolve } from "node:path";
import { createVitest, type Vitest } from "vitest/node";
import { type Mutant } from "./mutant.ts";
import { plant, planted } from "./planted.ts";

export type Order =
  /** Of these test files; null is all. */
  | { readonly is: "coverage"; readonly files: readonly string[] | null }
  | { readonly is: "mutant"; readonly mutant: Mutant; readonly waves: readonly (readonly string[])[] };

export type Answer =
  | { readonly is: "ready" }
  /** One test file of a coverage run, or of a mutant's. */
  | { readonly is: "ran"; readonly file: string }
  | { readonly is: "covered"; readonly files: readonly { file: string; ms: number; failed: boolean }[] }
  | {
      readonly is: "judged";
      readonly key: string;
      readonly by: string | null;
      /** No assertion failed: the test waited until its time was over, which a busy machine can cause too. */
      readonly isTimeout: boolean;
      readonly files: number;
    };

const projects = ["pure", "patching", "postgres"];

/** Their tests start processes, browsers and templates of their own: what is planted here does not reach those. */
const elsewhere = /^(console|house|image|infra|lambda|local|package|readme|smoke|emulator)\//;

let vitest: Vitest | null = null;

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
  const isHere = (path: string): boolean =>
    !elsewhere.test(relative(resolve("test"), path)) && (asked?.has(path) ?? true);
  const { testModules } = await run.runTestSpecifications(all.filter(({ moduleId }) => isHere(moduleId)));
  const measured = testModules.map((module) => ({
    file: module.relativeModuleId,
    ms: Math.round(module.diagnostic().duration),
    failed: module.state() === "failed",
  }));
  return { is: "covered", files: measured };
}

/** Runs the waves until a test fails. */
async function judge(mutant: Mutant, waves: readonly (readonly string[])[]): Promise<Answer> {
  const last = planted();
  plant(mutant);
  const run = await open();
  for (const changed of [last, mutant]) {
    if (changed !== null && changed !== "coverage") run.invalidateFile(resolve(changed.file));
  }
  let files = 0;
  for (const wave of waves) {
    const specifications = (await run.globTestSpecifications([...wave])).filter(({ moduleId }) =>
      wave.some((file) => moduleId === resolve(file)),
    );
    files += specifications.length;
    run.config.bail = 1;
    const { testModules, unhandledErrors } = await run.runTestSpecifications(specifications);
    const ran = new Set(specifications.map(({ moduleId }) => moduleId));
    const failed = testModules.find((module) => ran.has(module.moduleId) && module.state() === "failed");
    const by = failed?.relativeModuleId ?? (unhandledErrors.length > 0 ? "an unhandled error" : null);
    if (by === null) continue;
    const { name, isTimeout } = firstFailure(failed);
    return { is: "judged", key: mutant.key, by: by + name, isTimeout, files };
  }
  return { is: "judged", key: mutant.key, by: null, isTimeout: false, files };
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
