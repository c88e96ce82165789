import { type Killers, reachingCore, reachingSql, wavesFor } from "./choose.ts";
import type { Database } from "./database.ts";
import type { Coverage, Verdict } from "./kept.ts";
import type { Mutant } from "./mutant.ts";
import type { Sessions } from "./sessions.ts";
import { statementTexts } from "./statements.ts";

/** A run that takes longer than this beyond what its files took in the coverage run hangs. */
const graceMs = 90_000;

export interface Court {
  readonly database: Database;
  readonly sessions: Sessions;
  readonly coverage: Coverage;
  readonly found: Killers;
  /** Statement texts as they are. */
  readonly texts: Readonly<Record<string, string>>;
}

/** Plants one mutant and runs the tests that reach it, until one fails. */
export async function judge(mutant: Mutant, court: Court): Promise<Verdict> {
  const startedMs = performance.now();
  const verdict = (is: Verdict["is"], by: string | null, files: number): Verdict => {
    return { key: mutant.key, is, by, files, ms: Math.round(performance.now() - startedMs) };
  };
  const reaching = mutant.file.includes("/sql/")
    ? await reachingStatement(mutant, court)
    : reachingCore(mutant, court.coverage);
  if (typeof reaching === "string") return verdict(reaching, null, 0);
  if (reaching.length === 0) return verdict("unreached", null, 0);
  const waves = wavesFor(reaching, mutant, court.coverage, court.found);
  const expectedMs = reaching.reduce((sum, file) => sum + (court.coverage.ms[file] ?? 0), 0);
  const answer = await court.sessions.ask({ is: "mutant", mutant, waves }, graceMs + 3 * expectedMs);
  if (answer === null) {
    await court.database.dropLeftovers();
    return verdict("hung", null, reaching.length);
  }
  if (answer.is !== "judged") throw new Error(`the session answered ${answer.is}`);
  const is = answer.by === null ? "survived" : answer.isTimeout ? "hung" : "killed";
  return verdict(is, answer.by, answer.files);
}

async function reachingStatement(mutant: Mutant, court: Court): Promise<string[] | "invalid" | "same"> {
  const now = await statementTexts(mutant);
  if (now === null) return "invalid";
  const changed = Object.keys(court.texts).filter((name) => now[name] !== court.texts[name]);
  for (const name of changed) {
    if (!(await court.database.isValid(now[name] ?? ""))) return "invalid";
  }
  return reachingSql(changed, mutant, new Set(Object.keys(court.texts)), court.coverage);
}

const canary: Mutant = {
  key: "000000000000",
  file: "src/core/job/decide.ts",
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
    const mutant = { ...canary, after };
    const answer = await sessions.ask({ is: "mutant", mutant, waves: [["test/core/decide.test.ts"]] }, 2 * graceMs);
    if (answer?.is !== "judged" || answer.files !== 1 || (answer.by !== null) !== isFound)
      throw new Error(`${JSON.stringify(after)} at the top of ${mutant.file} came to ${JSON.stringify(answer)}`);
  }
}
