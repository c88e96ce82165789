/** Runs that wait for signals, and those who send them. */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Job } from "../../src/define/context.ts";
import { defineGraph } from "../../src/define/define-graph.ts";
import { signalRun } from "../../src/run/signal-run.ts";
import type { Made, Payload, Surroundings } from "./app.ts";
import type { SimProcess } from "./process.ts";
import type { World } from "./world.ts";

/** By the kinds of the tasks that wait: how long. */
export const waitMs: ReadonlyMap<string, number> = new Map([
  ["asking.approved", 8_000],
  ["asking.signed", 20_000],
]);
const names = ["approved", "signed"] as const;

type Answer = StandardSchemaV1<{ by: string }, { by: string }>;
const answer: Answer = {
  "~standard": { version: 1, vendor: "sim", validate: (value) => ({ value: value as { by: string } }) },
};

/** Two tasks wait for a signal each. Without it one goes on, the other fails. */
export function asking(world: Surroundings, { payload, run, ...quick }: Made): Job<Payload> {
  return defineGraph({
    id: "asking",
    version: 1,
    input: payload,
    tasks(task) {
      const ask = task("ask", { ...quick, run: ({ input }, ctx) => run(input, ctx) });
      const after = { ask };
      const approved = task.waitFor("approved", { after, payload: answer, timeout: "8s", onTimeout: "continue" });
      const signed = task.waitFor("signed", { after, payload: answer, timeout: "20s" });
      task("pay", {
        ...quick,
        after: { approved },
        run: ({ approved: brought }, { jobId }) =>
          world.see({ jobId, kind: "asking.approved", by: brought?.by ?? null }),
      });
      task("file", {
        ...quick,
        after: { signed },
        run: ({ signed: { by } }, { jobId }) => world.see({ jobId, kind: "asking.signed", by }),
      });
    },
  });
}

/** Sends to a run of late a signal, some before its task waits or after it has ended; some send the same again. */
export async function send(world: World, process: SimProcess): Promise<void> {
  const { ports, app } = world.inside(process);
  const { random, record } = world;
  const newest = await world.wire.call(process, "jobs", () => world.server.newestJobs(50));
  const asked = [...(await ports.store.inRuns(newest)).values()].filter(({ kind }) => kind === "asking");
  const ids = [...new Set(asked.map(({ runId }) => runId))].toSorted((a, b) => Number(b) - Number(a)).slice(0, 4);
  const id = random.shuffled(ids)[0];
  if (id === undefined) return;
  const name = random.pick(names);
  const by = process.name;
  for (let times = random.between(1, 2); times > 0; times -= 1) {
    const place = record.sent.length;
    const sent = { runId: id, kind: `asking.${name}`, by } as const;
    record.sent.push({ ...sent, answer: null, at: world.now() });
    const { is } = await signalRun(ports, app.registry, { id, kind: "asking" }, { name, payload: { by }, caller: by });
    record.sent[place] = { ...sent, answer: is, at: world.now() };
  }
}
