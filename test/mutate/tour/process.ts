/** A process that walks the tours of `test/postgres/effects` and tries every mutant of every statement that they send. */
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { changesOf, mutatedFiles } from "../places.ts";
import { isStatic, marked, type Numbered } from "./markers.ts";
import { createTrials } from "./trial.ts";

/** Names of tours with commas between, or "" for all; then a file with the keys of mutants, a line each, or none for all. */
const [tourNames = "", keys = ""] = process.argv.slice(2);
const asked = new Set(keys === "" ? [] : readFileSync(keys, "utf8").split("\n"));

const mutants = new Map<number, Numbered>();
const sources = new Map<string, string>();
for (const file of mutatedFiles().filter((name) => name.includes("/sql/"))) {
  const numbered = changesOf(file).flatMap(({ mutant, rule }) => {
    if (rule !== null || !isStatic(mutant) || (asked.size > 0 && !asked.has(mutant.key))) return [];
    return [{ number: mutants.size + 1, mutant }].map((one) => (mutants.set(one.number, one), one));
  });
  sources.set(file, marked(readFileSync(file, "utf8"), numbered));
}
registerHooks({
  load(url, context, next) {
    const source = url.startsWith("file:") ? sources.get(relative(process.cwd(), fileURLToPath(url))) : undefined;
    return source === undefined ? next(url, context) : { format: "module-typescript", source, shortCircuit: true };
  },
});

const { openServer } = await import("../../postgres/effects/run.ts");
const { tours } = await import("../../postgres/effects/tours.ts");
const trials = createTrials(mutants);
const server = await openServer();
try {
  for (const tour of tours) {
    if (tourNames !== "" && !tourNames.split(",").includes(tour.name)) continue;
    const startedMs = performance.now();
    await server.run(tour, (sending) => trials.before(tour.name, sending));
    process.stderr.write(`${tour.name}: ${Math.round((performance.now() - startedMs) / 1_000)} s\n`);
  }
} finally {
  await server.close();
}
if (trials.notRepeated.size > 0)
  process.stderr.write(`not the same twice, so nothing is tried in them: ${[...trials.notRepeated].join(", ")}\n`);
process.stdout.write(JSON.stringify(Object.fromEntries(trials.verdicts())));
