import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

/** What a run keeps for the next one, beside the project and not committed. */
const folder = ".mutate";
const at = (name: string): string => {
  mkdirSync(folder, { recursive: true });
  return join(folder, name);
};

const coverageShape = z.object({
  commit: z.string(),
  /** By what is reached: `sql:NAME` or `FILE#FUNCTION`; the test files that reach it. */
  hits: z.record(z.string(), z.array(z.string())),
  /** By test file. */
  ms: z.record(z.string(), z.number()),
});
export type Coverage = z.infer<typeof coverageShape>;

export function keptCoverage(): Coverage | null {
  return existsSync(at("coverage.json"))
    ? coverageShape.parse(JSON.parse(readFileSync(at("coverage.json"), "utf8")))
    : null;
}

export const keepCoverage = (coverage: Coverage): void => writeFileSync(at("coverage.json"), JSON.stringify(coverage));

export const hitsFile = (): string => at("hits.ndjson");

const verdictShape = z.object({
  key: z.string(),
  /** `invalid`: Postgres refuses the text. `same`: no statement changes. */
  is: z.enum(["killed", "hung", "survived", "unreached", "invalid", "same"]),
  /** The test that failed, or null. */
  by: z.string().nullable(),
  files: z.number(),
  ms: z.number(),
});
export type Verdict = z.infer<typeof verdictShape>;

/** By key, the newest of each. A place that changed has other keys, so what is kept is never out of date in itself. */
export function keptVerdicts(): Map<string, Verdict> {
  if (!existsSync(at("verdicts.ndjson"))) return new Map();
  const lines = readFileSync(at("verdicts.ndjson"), "utf8").split("\n").filter(Boolean);
  return new Map(lines.map((line) => verdictShape.parse(JSON.parse(line))).map((verdict) => [verdict.key, verdict]));
}

export const keepVerdict = (verdict: Verdict): void =>
  appendFileSync(at("verdicts.ndjson"), `${JSON.stringify(verdict)}\n`);

const acceptedShape = z.array(z.object({ key: z.string(), mutant: z.string(), reason: z.string().min(20) }));
export type Accepted = z.infer<typeof acceptedShape>[number];

/** Survivors that change no behaviour, each with its reason. Committed. */
export const accepted = (): Accepted[] =>
  acceptedShape.parse(JSON.parse(readFileSync(new URL("accepted.json", import.meta.url), "utf8")));
