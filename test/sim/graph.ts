import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Context, Job } from "../../src/define/context.ts";
import { defineGraph } from "../../src/define/define-graph.ts";
import { PermanentError } from "../../src/define/errors.ts";
import type { Payload, Surroundings } from "./app.ts";

/** A graph that a job follows, with a branch, a task that may fail for good, and every join rule; its payload decides what happens. */
export function flow(
  world: Surroundings,
  options: {
    schema: StandardSchemaV1<Payload, Payload>;
    limits: { readonly lease: "2s"; readonly timeout: "6s" };
    then: Job<Payload>;
  },
): Job<Payload> {
  const quick = { ...options.limits, retry: { maxAttempts: 4, base: "1s", cap: "30s" } } as const;
  const work = async ({ input }: { input: Payload }, ctx: Context): Promise<void> => {
    await world.sleep(input.workMs, ctx.signal);
    ctx.signal.throwIfAborted();
    await world.target({ key: ctx.effectKey("call"), jobId: ctx.jobId, attempt: ctx.attempt });
  };
  /** Calls nothing outside, so that two of a batch end at the same moment, in one statement. */
  const rest = async ({ input }: { input: Payload }, ctx: Context): Promise<void> => {
    await world.sleep(input.workMs, ctx.signal);
    ctx.signal.throwIfAborted();
  };
  return defineGraph({
    id: "flow",
    version: 1,
    input: options.schema,
    tasks(task) {
      const a = task("a", { ...quick, run: work });
      const b = task("b", { ...quick, after: { a }, run: rest });
      const c = task("c", { ...quick, after: { a }, when: ({ input }) => input.workMs % 3 !== 0, run: rest });
      const e = task("e", {
        ...quick,
        after: { b },
        run: async (given, ctx) => {
          await work(given, ctx);
          if (given.input.workMs % 4 === 0) throw new PermanentError("fails for good");
        },
      });
      const d = task("d", { ...quick, after: { b, c, e }, run: work });
      task("f", { ...quick, after: { d, e }, join: "allDone", run: work });
      const g = task("g", { ...quick, after: { c, e }, join: "any", run: work });
      task("i", { ...quick, after: { b, c, e }, join: { atLeast: 2 }, run: work });
      const rows = task.each("j", {
        ...quick,
        after: { c },
        from: () => [1, 2, 3],
        run: (_row, ctx) => world.target({ key: ctx.effectKey("call"), jobId: ctx.jobId, attempt: ctx.attempt }),
      });
      task("k", { ...quick, after: { rows, e }, join: "any", run: rest });
      task("h", { ...quick, after: { a, g }, run: work });
    },
    then: options.then,
    thenPayload: ({ input: { workMs } }) => ({ workMs }),
    on: "end",
  });
}
