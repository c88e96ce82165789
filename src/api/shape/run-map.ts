import { z } from "zod";
import type { RunMaps } from "../../core/ports/run-map.ts";
import type { RunView, TaskView } from "../../core/ports/run.ts";
import { run, runJson, task, taskJson } from "./run.ts";
import { count, idText, state, time } from "./shape.ts";

/** A whole run in columns: what stands at one place of each belongs to one task. Ten thousand weigh under a megabyte. */
export const runMap = z
  .object({
    jobs: z.array(idText),
    names: z.array(z.string().nullable()),
    states: z.array(state),
    /** Milliseconds after `from`. */
    started: z.array(z.int().nullable()),
    finished: z.array(z.int().nullable()),
    attempts: z.array(count),
    errors: z.array(z.string().nullable()),
    /** Predecessors that have not ended. */
    open: z.array(count),
    /** Places of those SKIPPED because their branch was not taken. */
    notTaken: z.array(count),
    /** Places: the second waits for the first. */
    edges: z.array(z.tuple([count, count])),
    from: time,
    isMore: z.boolean(),
    run,
    /** The first that FAILED, with their errors. */
    failed: z.array(task),
  })
  .meta({ id: "RunMap" });

export type RunMapReply = z.infer<typeof runMap>;

interface Mapped extends Awaited<ReturnType<RunMaps["runMap"]>> {
  readonly run: RunView;
  readonly failed: readonly TaskView[];
}

export function runMapJson({ tasks, edges, isMore, run: view, failed }: Mapped): RunMapReply {
  const places = new Map(tasks.map(({ jobId }, place) => [jobId, place]));
  const from = tasks.reduce((least, { startedAt }) => Math.min(least, startedAt ?? least), Infinity);
  const base = from === Infinity ? 0 : from;
  const after = (at: number | null): number | null => (at === null ? null : at - base);
  return {
    jobs: tasks.map(({ jobId }) => jobId),
    names: tasks.map(({ name }) => name),
    states: tasks.map((task) => task.state),
    started: tasks.map(({ startedAt }) => after(startedAt)),
    finished: tasks.map(({ finishedAt }) => after(finishedAt)),
    attempts: tasks.map(({ attempt }) => attempt),
    errors: tasks.map(({ errorCode }) => errorCode),
    open: tasks.map(({ openPredecessors }) => openPredecessors),
    notTaken: tasks.flatMap(({ notTaken }, place) => (notTaken ? [place] : [])),
    edges: edges.flatMap(([a, b]): [number, number][] => {
      const [source, target] = [places.get(a), places.get(b)];
      return source === undefined || target === undefined ? [] : [[source, target]];
    }),
    from: new Date(base).toISOString(),
    isMore,
    run: runJson(view),
    failed: failed.map(taskJson),
  };
}
