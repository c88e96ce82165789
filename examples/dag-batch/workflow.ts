import { readFileSync } from "node:fs";
import { type DataTask, PermanentError } from "belfry";
import { z } from "zod";
import { databasePool } from "belfry/connect";

const word = z.string().regex(/^[\w:-]{1,60}$/, "must be 1 to 60 letters, digits, _, : and -");
/** A graph and the day that it runs for; of several batches of a day each names its part. */
export const workflowInput = z.object({ graph: word, day: z.iso.date(), part: word.optional() });

/** A task as a graph's file or table has it. */
export interface FileTask extends DataTask<never> {
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

const connected = databasePool();
const newest = `
  select task.name, task.join_rule as join, json_build_object('version', version, 'seconds', seconds) as payload,
    coalesce((select array_agg(from_key order by from_key) from dag_batch.task_dep d
      where d.graph = task.graph and d.version = task.version and d.to_key = task.name), '{}') as after
  from dag_batch.task
  where graph = $1 and version = (select max(version) from dag_batch.task where graph = $1)
  order by task.name`;

export type TimedTask = DataTask<{ readonly version: number; readonly seconds: number }>;

/** The graph's newest version in the tables `task` and `task_dep`, else its file as version 0. Belfry checks it: names, size, cycles. */
export async function loadGraph(graph: string): Promise<readonly TimedTask[]> {
  const { rows } = await connected().query<TimedTask>(newest, [graph]);
  if (rows.length > 0) return rows;
  return readGraphFile(graph).map(({ seconds, ...task }) => ({ ...task, payload: { version: 0, seconds } }));
}
