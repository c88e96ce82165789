import { joinParts } from "../machine/join.ts";
import { runLimits } from "../machine/run-limits.ts";
import type { JobId } from "../machine/job.ts";
import type { Renewal } from "../machine/renewal.ts";
import type { NewRun, NewTask } from "../machine/run.ts";
import type { Tx } from "../machine/transaction.ts";
import type { DispatchedRow } from "./sql/dispatch.ts";
import { drawIds, insertEdges, insertTaskRows as insert } from "./sql/run.ts";
import { arrayLiteral, columns, execute } from "./statement.ts";

/** What a run has already: the job of each task by place, and those whose edges are written again. */
type Standing = Pick<Renewal, "jobs" | "open">;

interface InsertedTasks {
  readonly ids: readonly string[];
  readonly dispatched: readonly DispatchedRow[];
}

/**
 * Writes the tasks and edges of a run that was just inserted, or those that a standing run has not. Columns travel as one text each:
 * for tens of thousands of values the driver's own conversion takes as long as the database.
 */
export async function insertTasks(tx: Tx, runId: string, run: NewRun, standing?: Standing): Promise<InsertedTasks> {
  const tasks = standing === undefined ? run.tasks : run.tasks.filter((_, place) => standing.jobs[place] === null);
  const ids = tasks.length === 0 ? [] : ((await execute(tx, drawIds, [tasks.length]))[0]?.ids ?? "").split(",");
  const kinds = kindsOf(tasks);
  const dispatched: DispatchedRow[] = [];
  for (let from = 0; from < tasks.length; from += runLimits.insertTasksMax) {
    const page = tasks.slice(from, from + runLimits.insertTasksMax);
    const joins = page.map(({ join }) => joinParts(join));
    const values = [
      list(ids.slice(from, from + page.length)),
      texts(page.map((task) => task.task)),
      list(page.map((task) => task.after.length)),
      common(kinds.places.slice(from, from + page.length)),
      common(joins.map(({ rule }) => rule)),
      common(page.map((task) => task.hasCondition)),
    ];
    const payloads = page.map((task) => JSON.stringify(task.job.payload));
    const rest = [runId, run.trace, runLimits.wideJoinOver, texts(oneIfEqual(payloads))];
    dispatched.push(
      ...(await execute(tx, insert, [
        ...values,
        ...kinds.policies,
        ...rest,
        ...kinds.waits,
        common(joins.map(({ least }) => least)),
      ])),
    );
  }
  if (standing === undefined) await writeEdges(tx, runId, tasks, ids);
  else await linkAgain(tx, runId, run.tasks, { ...standing, ids });
  return { ids, dispatched };
}

/** Edges to new tasks and to those that are decided again. */
async function linkAgain(
  tx: Tx,
  runId: string,
  tasks: readonly NewTask[],
  { jobs, open, ids }: Standing & { readonly ids: readonly string[] },
): Promise<void> {
  const drawn = ids.values();
  const all = jobs.map((job) => job ?? drawn.next().value ?? "");
  const isKept = (job: JobId | null | undefined): boolean => job != null && !open.has(job);
  await writeEdges(
    tx,
    runId,
    tasks.map((task, place) => (isKept(jobs[place]) ? { ...task, after: [] } : task)),
    all,
  );
}

async function writeEdges(tx: Tx, runId: string, tasks: readonly NewTask[], ids: readonly string[]): Promise<void> {
  const from: (string | undefined)[] = [];
  const to: (string | undefined)[] = [];
  const wide: boolean[] = [];
  const write = async (): Promise<void> => {
    if (from.length > 0) await execute(tx, insertEdges, [list(from), list(to), common(wide), runId]);
    for (const column of [from, to, wide]) column.length = 0;
  };
  for (const [place, task] of tasks.entries()) {
    for (const before of task.after) {
      from.push(ids[before]);
      to.push(ids[place]);
      wide.push(task.after.length > runLimits.wideJoinOver);
    }
    if (from.length >= runLimits.insertEdgesMax) await write();
  }
  await write();
}

/** Tasks of one definition share everything except name and place, which is sent once. */
function kindsOf(tasks: readonly NewTask[]) {
  const places = new Map<string, number>();
  const distinct: Pick<NewTask, "job" | "wait">[] = [];
  const byTask = tasks.map(({ job, wait = null }) => {
    const { kind, lane, leaseMs, maxAttempts, retentionMs, slotKeys, dueAt } = job;
    const key = [kind, lane, leaseMs, maxAttempts, retentionMs, dueAt, wait?.ms, wait?.forSignal, ...slotKeys].join(
      "\n",
    );
    const known = places.get(key) ?? distinct.push({ job, wait });
    places.set(key, known);
    return known;
  });
  const jobs = distinct.map(({ job }) => job);
  const policies = [
    ...columns(jobs, "kind", "lane", "leaseMs", "maxAttempts", "retentionMs"),
    jobs.map((job) => arrayLiteral(job.slotKeys)),
  ];
  const waits = [
    distinct.map(({ wait }) => wait?.ms ?? null),
    distinct.map(({ wait }) => wait?.forSignal ?? false),
    ...columns(jobs, "dueAt"),
  ];
  return { places: byTask, policies, waits };
}

const list = (values: readonly unknown[]): string => `{${values.join(",")}}`;

const texts = (values: readonly string[]): string => `{${values.map((value) => JSON.stringify(value)).join(",")}}`;

/** A column that is the same in every row is sent once. */
const oneIfEqual = <T>(values: readonly T[]): readonly T[] =>
  values.every((value) => value === values[0]) ? values.slice(0, 1) : values;

const common = (values: readonly (string | number | boolean)[]): string => list(oneIfEqual(values));
