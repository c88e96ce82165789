import { readFileSync } from "node:fs";
import { type DataTask, type JoinRule, PermanentError } from "belfry";
import { databasePool } from "belfry/connect";

/** A task as a graph's file or table has it. */
export interface FileTask extends DataTask {
  /** How long it runs; 0 is common. */
  readonly seconds: number;
  /** How the cluster treats it. */
  readonly fails?: "once" | "always";
}

// Written out whole: a bundle takes along the folders that its code names.
const graphs = new URL("./graphs/", import.meta.url);
const name = /^[a-z][a-z-]{0,40}$/;

/** @throws PermanentError when there is no such file: no further attempt would find it. */
export function readGraphFile(graph: string): readonly FileTask[] {
  if (!name.test(graph)) throw new PermanentError(`"${graph}" is not the name of a graph`, { code: "NO_GRAPH" });
  try {
    return JSON.parse(readFileSync(new URL(`${graph}.json`, graphs), "utf8")) as readonly FileTask[];
  } catch (cause) {
    throw new PermanentError(`graphs/${graph}.json cannot be read`, { code: "NO_GRAPH", cause });
  }
}

/** What a run is made of. Belfry checks it: names, predecessors, size, cycles. */
export const graphTasks = (graph: string): readonly DataTask[] => readGraphFile(graph).map(dataTask);

const dataTask = ({ name: task, after = [], join = "all" }: FileTask): DataTask => ({ name: task, after, join });

const connected = databasePool();
const newest = `
  select task.name, task.seconds, task.join_rule as join,
    coalesce((select array_agg(from_key order by from_key) from dag_batch.task_dep d
      where d.graph = task.graph and d.version = task.version and d.to_key = task.name), '{}') as after
  from dag_batch.task
  where graph = $1 and version = (select max(version) from dag_batch.task where graph = $1)
  order by task.name`;

/** The graph's newest version in the tables `task` and `task_dep`, else its file. */
export async function loadGraph(graph: string): Promise<readonly DataTask[]> {
  const { rows } = await connected().query<FileTask & { join: JoinRule }>(newest, [graph]);
  return rows.length > 0 ? rows.map(dataTask) : graphTasks(graph);
}

const runtimes = new Map<string, ReadonlyMap<string, number>>();

/** A task that a newer graph does not have any more still belongs to the runs that have it, and takes no time. */
export async function secondsOf(graph: string, task: string): Promise<number> {
  let known = runtimes.get(graph);
  if (known === undefined) {
    const { rows } = await connected().query<FileTask>(newest, [graph]);
    known = new Map((rows.length > 0 ? rows : readGraphFile(graph)).map((one) => [one.name, one.seconds]));
    runtimes.set(graph, known);
  }
  return known.get(task) ?? 0;
}
