/** A whole run as the page holds it: tasks by their place, edges between places. */
import type { RunMapReply } from "../../api/shape/run.ts";
import type { JobState } from "../jobs/state.ts";

export interface MapTask {
  readonly place: number;
  readonly job: string;
  /** What it is called in the run; its number when it has no name. */
  readonly name: string;
  readonly state: JobState;
  readonly notTaken: boolean;
  readonly wantsSignal: boolean;
  readonly open: number;
  readonly attempt: number;
  readonly error: string | null;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  /** The run of the jobs of its rows, where it has some. */
  readonly rows: RunMapReply["rows"][number] | null;
}

export interface LoadedMap {
  readonly tasks: readonly MapTask[];
  readonly edges: readonly (readonly [from: number, to: number])[];
  /** Predecessors by place. */
  readonly before: ReadonlyMap<number, readonly number[]>;
  readonly isMore: boolean;
  readonly run: RunMapReply["run"];
  /** The first that FAILED, with their errors. */
  readonly failed: RunMapReply["failed"];
}

export function loadedMap(reply: RunMapReply): LoadedMap {
  const base = Date.parse(reply.from);
  const at = (ms: number | null | undefined): number | null => (ms == null ? null : base + ms);
  const rows = new Map(reply.rows.map((each) => [each.place, each]));
  const notTaken = new Set(reply.notTaken);
  const signals = new Set(reply.signals);
  const tasks = reply.jobs.map((job, place) => ({
    place,
    job,
    name: reply.names[place] ?? `#${job}`,
    state: reply.states[place] ?? "PENDING",
    notTaken: notTaken.has(place),
    wantsSignal: signals.has(place),
    open: reply.open[place] ?? 0,
    attempt: reply.attempts[place] ?? 0,
    error: reply.errors[place] ?? null,
    startedAt: at(reply.started[place]),
    finishedAt: at(reply.finished[place]),
    rows: rows.get(place) ?? null,
  }));
  const before = new Map<number, number[]>();
  for (const [from, to] of reply.edges) {
    const known = before.get(to);
    if (known === undefined) before.set(to, [from]);
    else known.push(from);
  }
  const { edges, isMore, run, failed } = reply;
  return { tasks, edges, before, isMore, run, failed };
}

/** Chips of the list, each with the states it stands for. */
export const taskSets = {
  all: null,
  bad: ["FAILED", "CANCELED", "RETRY_WAIT", "RUNNING", "QUEUED", "PENDING", "SKIPPED"],
  failed: ["FAILED"],
  running: ["RUNNING"],
  waiting: ["PENDING", "QUEUED", "RETRY_WAIT"],
  skipped: ["SKIPPED", "CANCELED"],
  succeeded: ["SUCCESS"],
} as const satisfies Readonly<Record<string, readonly JobState[] | null>>;
export type TaskSet = keyof typeof taskSets;

export const isInSet = ({ state }: Pick<MapTask, "state">, set: TaskSet): boolean =>
  taskSets[set] === null || (taskSets[set] as readonly JobState[]).includes(state);

const urgent = ["FAILED", "RUNNING", "RETRY_WAIT", "CANCELED", "QUEUED", "PENDING", "SKIPPED", "SUCCESS"];
export const urgencyOf = ({ state }: Pick<MapTask, "state">): number => urgent.indexOf(state);

/** The tasks that are wanted: of a large run what needs attention first, else as they began. */
export function listedTasks(
  tasks: readonly MapTask[],
  { set, text, isLarge }: { readonly set: TaskSet; readonly text: string; readonly isLarge: boolean },
): readonly MapTask[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = tasks.filter((task) => {
    if (!isInSet(task, set)) return false;
    const whole = `${task.name} ${task.job} ${task.error ?? ""}`.toLowerCase();
    return words.every((word) => whole.includes(word));
  });
  const rank = (task: MapTask): number => (isLarge ? urgencyOf(task) : (task.startedAt ?? Infinity));
  return found.toSorted((a, b) => (rank(a) === rank(b) ? a.place - b.place : rank(a) - rank(b)));
}

export const tookMs = ({ startedAt, finishedAt }: MapTask): number =>
  startedAt === null || finishedAt === null ? -1 : Math.max(0, finishedAt - startedAt);

/** From the task that ended last back along the predecessor that each waited for longest. */
export function criticalPath({ tasks, before }: Pick<LoadedMap, "tasks" | "before">): readonly MapTask[] {
  const last = (among: readonly MapTask[]): MapTask | undefined =>
    among.reduce<MapTask | undefined>(
      (latest, task) =>
        task.finishedAt !== null && task.startedAt !== null && task.finishedAt > (latest?.finishedAt ?? 0)
          ? task
          : latest,
      undefined,
    );
  const path: MapTask[] = [];
  let at = last(tasks);
  while (at !== undefined && path.length <= tasks.length) {
    path.push(at);
    at = last((before.get(at.place) ?? []).flatMap((place) => tasks[place] ?? []));
  }
  return path.toReversed();
}
