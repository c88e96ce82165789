import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

/** What a run keeps for the next one, beside the project and not committed. */
const folder = ".mutate";
export const at = (name: string): string => {
  mkdirSync(folder, { recursive: true });
  return join(folder, name);
};

const coverageShape = z.object({
  commit: z.string(),
  /** By `sql:NAME` and by test file: the tests that send it; null is all of the file. */
  hits: z.record(z.string(), z.record(z.string(), z.array(z.string()).nullable())),
  /** By `FILE > TEST`: how many places it reaches. */
  breadth: z.record(z.string(), z.number()),
  /** By test file, and by test in it. What a file takes beyond its tests is its set-up. */
  ms: z.record(z.string(), z.object({ file: z.number(), tests: z.record(z.string(), z.number()) })),
});
export type Coverage = z.infer<typeof coverageShape>;

export function keptCoverage(): Coverage | null {
  return existsSync(at("coverage.json"))
    ? coverageShape.parse(JSON.parse(readFileSync(at("coverage.json"), "utf8")))
    : null;
}

export const keepCoverage = (coverage: Coverage): void => writeFileSync(at("coverage.json"), JSON.stringify(coverage));

export const hitsFile = (): string => at("hits.ndjson");

export interface Verdict {
  readonly key: string;
  /** `hung`: a test ran out of time. `invalid`: Postgres refuses the text. `same`: no statement changes. */
  readonly is: "killed" | "hung" | "survived" | "unreached" | "invalid" | "same";
  /** The test that failed, or null. */
  readonly by: string | null;
  /** How many tests were asked. */
  readonly tests: number;
  readonly ms: number;
}

/** By test: whether it passes when no other test of its file runs. One that does not finds nothing by itself. */
export function keptAlone(): Map<string, boolean> {
  if (!existsSync(at("alone.json"))) return new Map();
  return new Map(
    Object.entries(z.record(z.string(), z.boolean()).parse(JSON.parse(readFileSync(at("alone.json"), "utf8")))),
  );
}

export const keepAlone = (alone: ReadonlyMap<string, boolean>): void =>
  writeFileSync(at("alone.json"), JSON.stringify(Object.fromEntries(alone)));

const foundShape = z.object({ key: z.string(), by: z.string() });

/** By key, the test that found it last: the first to ask about others of its place. */
export function keptFound(): Map<string, string> {
  if (!existsSync(at("found.ndjson"))) return new Map();
  const lines = readFileSync(at("found.ndjson"), "utf8").split("\n").filter(Boolean);
  return new Map(lines.map((line) => foundShape.parse(JSON.parse(line))).map(({ key, by }) => [key, by]));
}

export const keepFound = ({ key, by }: { key: string; by: string }): void =>
  appendFileSync(at("found.ndjson"), `${JSON.stringify({ key, by })}\n`);

const reasonsShape = z.record(z.string(), z.record(z.string(), z.string().min(20)));

/** Why survivors change no behaviour: by place, "FILE STATEMENT", and by change. Committed. */
export type Reasons = z.infer<typeof reasonsShape>;
export const keptReasons = (): Reasons =>
  reasonsShape.parse(JSON.parse(readFileSync(new URL("reasons.json", import.meta.url), "utf8")));
