import { readLedger } from "../../examples/fake/ledger.ts";
import type { FileTask } from "../../examples/dag-batch/workflow.ts";
import type { Evidence } from "./judge.ts";

export interface Task {
  readonly status: string;
  readonly attempts: number;
  readonly output: Readonly<Record<string, unknown>> | null;
}

export interface Run {
  readonly dag: string;
  readonly key: string;
  readonly status: string;
  readonly tasks: ReadonlyMap<string, Task>;
}

const runsSql = `
  select dag, biz_key as key, status,
    (select jsonb_object_agg(task_key, jsonb_build_object('attempts', attempts, 'output', result,
        'status', case when not_taken then 'NOT_TAKEN' else status end))
     from dag_batch.outbox_evt where batch_id = batch.id) as tasks
  from dag_batch.batch_instance as batch order by id`;

export async function readRuns({ db }: Evidence): Promise<readonly Run[]> {
  const { rows } = await db.query<Omit<Run, "tasks"> & { tasks: Record<string, Task> | null }>(runsSql);
  return rows.map((row) => ({ ...row, tasks: new Map(Object.entries(row.tasks ?? {})) }));
}

/** What the cluster wrote down of the tasks of a graph, in the order in which it did. */
export interface TaskLines {
  readonly total: number;
  readonly repeats: number;
  began(graph: string, task: string): number;
  ended(graph: string, task: string): number;
  /** Its first line stands before the last one of a predecessor that ran. */
  beganEarly(graph: string, task: FileTask): boolean;
}

export function taskLines({ ledgers }: Evidence): TaskLines {
  const lines = readLedger(ledgers, "dag-batch-services")
    .filter((line) => line["what"] === "task")
    .map(({ outcome, ...line }, n) => ({ of: `${line["graph"]}/${line["task"]}`, outcome, n }));
  const of = Map.groupBy(lines, (line) => line.of);
  const count = (graph: string, task: string, outcome: string): number =>
    (of.get(`${graph}/${task}`) ?? []).filter((line) => line.outcome === outcome).length;
  return {
    total: lines.length,
    repeats: lines.filter(({ outcome }) => outcome === "repeated").length,
    began: (graph, task) => count(graph, task, "began"),
    ended: (graph, task) => count(graph, task, "ended"),
    beganEarly(graph, { name, after = [] }) {
      const first = of.get(`${graph}/${name}`)?.[0]?.n;
      if (first === undefined) return false;
      return after.some((before) => {
        const ended = of.get(`${graph}/${before}`)?.find(({ outcome }) => outcome === "ended");
        const last = ended ?? of.get(`${graph}/${before}`)?.at(-1);
        return last !== undefined && last.n > first;
      });
    },
  };
}
