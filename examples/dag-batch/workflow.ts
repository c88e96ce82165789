import { readFileSync } from "node:fs";
import { type DataTask, PermanentError } from "belfry";

/** A task as a graph's file has it. */
export interface FileTask extends DataTask {
  /** How long it runs; 0 is common. */
  readonly seconds: number;
  /** How the cluster treats it. */
  readonly fails?: "once" | "always";
}

// Written out whole: a bundle takes along the folders that its code names.
const graphs = new URL("./graphs/", import.meta.url);
const name = /^[a-z][a-z-]{0,40}$/;

/** @throws PermanentError when there is no such file: no further try would find it. */
export function readGraphFile(graph: string): readonly FileTask[] {
  if (!name.test(graph)) throw new PermanentError(`"${graph}" is not the name of a graph`, { code: "NO_GRAPH" });
  try {
    return JSON.parse(readFileSync(new URL(`${graph}.json`, graphs), "utf8")) as readonly FileTask[];
  } catch (cause) {
    throw new PermanentError(`graphs/${graph}.json cannot be read`, { code: "NO_GRAPH", cause });
  }
}

/** What a run is made of. Belfry checks it: names, predecessors, size, cycles. */
export const graphTasks = (graph: string): readonly DataTask[] =>
  readGraphFile(graph).map(({ name: task, after = [], join = "all" }) => ({ name: task, after, join }));

const runtimes = new Map<string, ReadonlyMap<string, number>>();

/** A task that a newer file does not have any more still belongs to the runs that have it, and takes no time. */
export function secondsOf(graph: string, task: string): number {
  let known = runtimes.get(graph);
  if (known === undefined) {
    known = new Map(readGraphFile(graph).map((one) => [one.name, one.seconds]));
    runtimes.set(graph, known);
  }
  return known.get(task) ?? 0;
}
