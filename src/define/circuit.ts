import type { Duration } from "../calendar/duration.ts";
import type { CircuitRule } from "../machine/circuit-store.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { minuteMs } from "../machine/units.ts";
import type { ProblemList } from "./problem.ts";
import { contractRange, readCount, readDuration, readOptions } from "./setting.ts";

/**
 * Half of the calls of a minute fail with 503: `{ on: ["HTTP_503"] }`. Then jobs wait on hold, which uses no attempt, and after `pause`
 * one of them is the probe: its success lets the others start, in order; its failure with a code of `on` begins the next pause.
 */
export interface CircuitOptions {
  /**
   * Error codes, 1 to 20. Each `x` behind the digits at the end is any digit: `HTTP_5xx`. `"*"`: whatever fails most, if it fails alike; of the
   * failures those with the most frequent code count.
   */
  readonly on: readonly string[] | "*";
  /** Of the attempts that ended in `over`, the share with such a code. Default 0.5. */
  readonly share?: number;
  /** From `10s` to `1h`. Default `1m`. */
  readonly over?: Duration;
  /** Attempts in `over`, below which it does not open: 1 to 10,000. Default 20. */
  readonly minimum?: number;
  /** From `1s` to `1d`. Default `5m`. */
  readonly pause?: Duration;
  /** Kinds that call the same target give it one name, and one rule. Default: the job's id. */
  readonly name?: string;
}

const fields = ["on", "share", "over", "minimum", "pause", "name"];
const codeForm = /^[\w.-]+$/;

export function circuitFrom(id: string, given: CircuitOptions | undefined, problems: ProblemList): CircuitRule | null {
  if (given === undefined) return null;
  const of = readOptions(problems, "circuit", given, { fields, example: 'write { on: ["HTTP_5xx"] }' });
  if (of === null) return null;
  const { on, share = 0.5, over, minimum, pause, name = id } = of;
  if (typeof share !== "number" || !(share > 0 && share <= 1))
    problems.add("circuit.share", share, "must be more than 0 and at most 1", "write 0.5 for a half, or leave it out");
  const isName = typeof name === "string" && codeForm.test(name) && name.length <= contractLimits.idCharactersMax;
  if (!isName && name !== id) {
    const rule = `must be 1 to ${contractLimits.idCharactersMax} letters, digits, ".", "_" or "-"`;
    problems.add("circuit.name", name, rule, "choose a shorter one");
  }
  return {
    name: String(name),
    pattern: on === "*" ? "^.+$" : patternOf(on, problems),
    alike: on === "*",
    share: Number(share),
    overMs: readDuration(problems, "circuit.over", over, { ...contractRange("circuitOverMs"), fallback: minuteMs }),
    minimum: readCount(problems, "circuit.minimum", minimum, contractRange("circuitMinimum")),
    pauseMs: readDuration(problems, "circuit.pause", pause, contractRange("circuitPauseMs")),
  };
}

function patternOf(on: unknown, problems: ProblemList): string {
  const codes: readonly unknown[] = Array.isArray(on) ? on : [];
  if (codes.length === 0 || codes.length > contractLimits.circuitCodesMax) {
    const rule = `must be a list of 1 to ${contractLimits.circuitCodesMax} error codes`;
    problems.add("circuit.on", on, rule, 'write ["HTTP_401", "HTTP_5xx"]');
  }
  const each = codes.flatMap((code) => {
    if (typeof code === "string" && codeForm.test(code) && code.length <= contractLimits.errorCodeCharactersMax)
      return code.replaceAll(".", "\\.").replace(/(?<=\d)x+$/, (digits) => "[0-9]".repeat(digits.length));
    const rule = `must be 1 to ${contractLimits.errorCodeCharactersMax} letters, digits, ".", "_" or "-"`;
    problems.add("circuit.on", code, rule, "write the code as the handler's error has it, like HTTP_503 or HTTP_5xx");
    return [];
  });
  return `^(${each.join("|")})$`;
}
