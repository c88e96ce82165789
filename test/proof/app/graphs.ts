import { defineApp, defineDataGraph, PermanentError, RetryLater } from "belfry";
import { z } from "zod";
import { fateOf } from "../fates.ts";
import { readGraphFile } from "../graph-files.ts";
import { tell, tries } from "./target.ts";

/** Longer ones would only make the case longer: what is under test is the order. */
const taskMsMax = 400;

/** A recorded workflow: each task takes its recorded time, divided by the scale, and ends as its seed says. */
const workflow = defineDataGraph({
  id: "workflow",
  version: 1,
  lane: "graphs",
  ...tries,
  input: z.object({ n: z.number(), file: z.string(), seed: z.number(), scale: z.number() }),
  key: (input) => input.file,
  graph: ({ file }) => readGraphFile(folder(), file).map(({ name, after }) => ({ name, after })),
  when: ({ task, input }) => fateOf(input.seed, input.file, task) !== "not-taken",
  async run({ task, input }, ctx) {
    const fate = fateOf(input.seed, input.file, task);
    await tell("start", ctx, `${input.file}/${task}`);
    if (fate === "flaky" && ctx.attempt === 1) throw new RetryLater("a first try that fails", { after: "100ms" });
    if (fate === "fail") throw new PermanentError("fails for good", { code: "BAD" });
    const seconds = readGraphFile(folder(), input.file).find((one) => one.name === task)?.seconds ?? 0;
    await new Promise((resolve) => setTimeout(resolve, Math.min(taskMsMax, (seconds * 1_000) / input.scale)));
    await tell("stop", ctx, `${input.file}/${task}`);
    return { ran: task };
  },
});

function folder(): string {
  const dir = process.env["BELFRY_PROOF_DIR"];
  if (dir === undefined) throw new Error("BELFRY_PROOF_DIR is not set: run the case with --dir FOLDER");
  return dir;
}

export default [defineApp({ name: "proof", jobs: [workflow], lanes: { graphs: { batchSize: 10, concurrency: 4 } } })];
