import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect } from "vitest";
import type { Numbered } from "./markers.ts";
import { createTrials } from "./trial.ts";

/** Of all files of the run: a mutant that one of them found is not tried in the next. */
declare global {
  var belfryTrials: ReturnType<typeof createTrials> | undefined;
}

const folder = process.env["BELFRY_WATCHED"] ?? "";
const mutants = JSON.parse(readFileSync(join(folder, "mutants.json"), "utf8")) as readonly Numbered[];
const trials = (globalThis.belfryTrials ??= createTrials(new Map(mutants.map((one) => [one.number, one]))));

globalThis.belfryBeforeStatement = (sending) => trials.before(expect.getState().currentTestName ?? "", sending);

afterAll(() => {
  if (trials.notRepeated.size > 0)
    process.stderr.write(`not the same twice, so nothing is tried in them: ${[...trials.notRepeated].join(", ")}\n`);
  writeFileSync(join(folder, "verdicts.json"), JSON.stringify(Object.fromEntries(trials.verdicts())));
});
