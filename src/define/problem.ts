/** Something a definition or a setting gets wrong, with what to change. Collected, so that all are shown together. */
export interface Problem {
  /** For example `job "send-mail"`. */
  readonly thing: string;
  readonly field: string;
  /** The value as it was written. */
  readonly value: string;
  /** What is required, as a sentence part: `must be at most 14m30s on Lambda`. */
  readonly rule: string;
  /** What to do about it: `use runOn: "fargate"`. Empty when the rule says that too. */
  readonly fix: string;
}

/** One line for people. */
export const describe = (problem: Problem): string =>
  `${problem.thing}: ${problem.field} ${problem.value} ${problem.rule}${problem.fix === "" ? "" : `; ${problem.fix}`}`;

/** Thrown where a start with a problem would be worse than no start. The message has one line for each problem. */
export class DefinitionProblems extends Error {
  override readonly name = "DefinitionProblems";
  readonly problems: readonly Problem[];
  constructor(problems: readonly Problem[]) {
    const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
    super(
      [`${count} in the definitions and their settings:`, ...problems.map((each) => `  - ${describe(each)}`)].join(
        "\n",
      ),
    );
    this.problems = problems;
  }
}

/** Collects the problems of one thing; values are shown as JSON. */
export class ProblemList {
  readonly found: Problem[] = [];
  readonly thing: string;
  constructor(thing: string) {
    this.thing = thing;
  }

  add(field: string, value: unknown, rule: string, fix: string): void {
    this.found.push({ thing: this.thing, field, value: shown(value), rule, fix });
  }
}

function shown(value: unknown): string {
  if (value === undefined) return "(missing)";
  // As JSON, NaN is null.
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  if (typeof value === "symbol" || typeof value === "function") return String(value);
  const text = JSON.stringify(value);
  return text.length <= 120 ? text : `${text.slice(0, 117)}...`;
}
