import { type Chosen, type Killers, type Reaching, reachingSql, wavesFor } from "./choose.ts";
import type { Database } from "./database.ts";
import { type Coverage, keepAlone, type Verdict } from "./kept.ts";
import type { Mutant } from "./mutant.ts";
import type { Answer } from "./session.ts";
import type { Sessions } from "./sessions.ts";
import { statementTexts } from "./statements.ts";

/** A run that takes longer than this beyond what its files took in the coverage run hangs. */
const graceMs = 90_000;

export interface Court {
  readonly database: Database;
  readonly sessions: Sessions;
  readonly coverage: Coverage;
  readonly found: Killers;
  /** By test, whether it passes when no other of its file runs. */
  readonly alone: Map<string, boolean>;
  readonly isWatched: boolean;
  readonly testMsMax: number;
  /** Statement texts as they are. */
  readonly texts: Readonly<Record<string, string>>;
}

/** Plants one mutant and runs the tests that reach it, until one fails. */
export async function judge(mutant: Mutant, court: Court): Promise<Verdict> {
  const startedMs = performance.now();
  const verdict = (is: Verdict["is"], by: string | null, tests: number): Verdict => {
    return { key: mutant.key, is, by, tests, ms: Math.round(performance.now() - startedMs) };
  };
  const reaching = await reachingStatement(mutant, court);
  if (typeof reaching === "string") return verdict(reaching, null, 0);
  if (Object.keys(reaching).length === 0) return verdict("unreached", null, 0);
  const whole = new Set<string>();
  let waves = wavesFor(reaching, mutant, court);
  for (;;) {
    const answer = await asked(mutant, waves, court);
    if (answer === null) return verdict("hung", null, waves.flat().length);
    if (answer.by === null) return verdict("survived", null, answer.tests);
    const dependent = fileOf(answer.by);
    if (whole.has(dependent) || (await passesAlone(answer.by, court)))
      return verdict(answer.isTimeout ? "hung" : "killed", answer.by, answer.tests);
    whole.add(dependent);
    waves = [...waves.map((wave) => wave.filter(({ file }) => file !== dependent)), [{ file: dependent, tests: null }]];
    waves = waves.filter((wave) => wave.length > 0);
  }
}

type Judged = Extract<Answer, { is: "judged" }>;

/** Null when it never ended. */
async function asked(mutant: Mutant, waves: readonly (readonly Chosen[])[], court: Court): Promise<Judged | null> {
  const expectedMs = waves.flat().reduce((sum, { file }) => sum + (court.coverage.ms[file]?.file ?? 0), 0);
  const answer = await court.sessions.ask({ is: "mutant", mutant, waves }, graceMs + 3 * expectedMs);
  if (answer === null) {
    const pid = court.sessions.pid();
    if (pid !== null) await court.database.dropLeftovers(pid);
    return null;
  }
  if (answer.is !== "judged") throw new Error(`the session answered ${answer.is}`);
  return answer;
}

const fileOf = (by: string): string => by.split(" > ")[0] ?? by;

/** A test that needs the ones before it fails without them, whatever is planted: then only its whole file is believed. */
async function passesAlone(by: string, court: Court): Promise<boolean> {
  const file = fileOf(by);
  if (by === file) return true;
  let passes = court.alone.get(by);
  if (passes === undefined) {
    const answer = await asked(nothing, [[{ file, tests: [by.slice(file.length + 3)] }]], court);
    passes = answer?.by === null;
    court.alone.set(by, passes);
    keepAlone(court.alone);
  }
  return passes;
}

async function reachingStatement(mutant: Mutant, court: Court): Promise<Reaching | "invalid" | "same"> {
  const now = await statementTexts(mutant);
  if (now === null) return "invalid";
  const changed = Object.keys(court.texts).filter((name) => now[name] !== court.texts[name]);
  for (const name of changed) {
    if (!(await court.database.isValid(now[name] ?? ""))) return "invalid";
  }
  return reachingSql(changed, mutant, new Set(Object.keys(court.texts)), court.coverage);
}

const nothing: Mutant = {
  key: "000000000000",
  file: "src/machine/decide.ts",
  place: "module",
  operator: "throw",
  start: 0,
  end: 0,
  before: "",
  after: "",
  line: 1,
};

/** @throws Error when what is planted does not reach the tests: then every mutant would survive, or none. */
export async function checkPlanting(sessions: Sessions): Promise<void> {
  for (const [after, isFound] of [
    ["", false],
    [`throw new Error("planted");`, true],
    [" ", false],
  ] as const) {
    const mutant = { ...nothing, after };
    const waves = [[{ file: "test/core/decide.test.ts", tests: null }]];
    const answer = await sessions.ask({ is: "mutant", mutant, waves }, 2 * graceMs);
    if (answer?.is !== "judged" || answer.tests !== 1 || (answer.by !== null) !== isFound)
      throw new Error(`${JSON.stringify(after)} at the top of ${mutant.file} came to ${JSON.stringify(answer)}`);
  }
}
