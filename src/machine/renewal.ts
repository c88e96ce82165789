/** How a run goes on by a newer definition of its graph: what stays, what is decided again, and what forbids it. */
import type { JobId } from "./job.ts";
import type { NewTask } from "./run.ts";
import { runLimits } from "./run-limits.ts";
import type { State } from "./state.ts";

/** A task of a run as it is. */
export interface StandingTask {
  readonly id: JobId;
  readonly task: string;
  readonly state: State;
  readonly notTaken: boolean;
  /** It waits for predecessors, or ended without success: nothing but this decision changes it. */
  readonly isOpen: boolean;
  /** Its end has reached its successors. */
  readonly isCounted: boolean;
  /** Names of its predecessors. */
  readonly after: readonly string[];
}

export interface Renewal {
  /** Why the run cannot go on by the newer definition; empty when it can. */
  readonly differences: readonly string[];
  /** The job of each newer task, by place; null for a task that is new. */
  readonly jobs: readonly (JobId | null)[];
  /** Jobs of newer tasks that are decided again. */
  readonly open: ReadonlySet<JobId>;
  /** Jobs that did not succeed and have no newer task. */
  readonly removed: readonly JobId[];
  /** Of the last two, those that have ended. */
  readonly again: readonly JobId[];
}

/** A task of rows would begin with those that failed, before today's predecessors and by yesterday's limits. */
export const rowsUndone = (task: string): string => `rows of ${task} did not succeed: retry the run before`;

/**
 * What has succeeded or is under way stays, so its predecessors must be the same. While its end is not counted yet, what follows
 * it must be the same too: its end may be on its way along the edges of before.
 */
export function renewalOf(standing: readonly StandingTask[], newer: readonly NewTask[]): Renewal {
  const places = new Map(newer.map(({ task }, place) => [task, place]));
  const names = newer.map(({ task }) => task);
  const after = (place: number): string[] => (newer[place]?.after ?? []).map((before) => names[before] ?? "");
  const led = followers(standing.map(({ task, after: before }) => [task, before]));
  const leads = followers(names.map((task, place) => [task, after(place)]));
  const differences: string[] = [];
  for (const { task, state, isOpen, isCounted, after: was } of standing) {
    if (isOpen) continue;
    const place = places.get(task);
    if (place === undefined) differences.push(`removed: ${task}, which is ${state}`);
    else differ(differences, `edges of ${task}`, was, after(place));
    if (place !== undefined && !(state === "SUCCESS" && isCounted)) {
      differ(differences, `edges from ${task}, which is ${state}`, led.get(task) ?? [], leads.get(task) ?? []);
    }
  }
  const known = new Map(standing.map((task) => [task.task, task]));
  const isDecided = ({ task, state, notTaken }: StandingTask): boolean =>
    places.has(task) || !(state === "SKIPPED" && notTaken);
  const open = standing.filter((task) => task.isOpen && isDecided(task));
  return {
    differences: differences.slice(0, runLimits.graphProblemsShownMax),
    jobs: names.map((name) => known.get(name)?.id ?? null),
    open: new Set(open.filter(({ task }) => places.has(task)).map(({ id }) => id)),
    removed: open.filter(({ task }) => !places.has(task)).map(({ id }) => id),
    again: open.filter(({ state }) => state !== "PENDING").map(({ id }) => id),
  };
}

function followers(tasks: readonly (readonly [string, readonly string[]])[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const [task, after] of tasks) {
    for (const before of after) {
      const known = found.get(before);
      if (known === undefined) found.set(before, [task]);
      else known.push(task);
    }
  }
  return found;
}

function differ(differences: string[], what: string, was: readonly string[], is: readonly string[]): void {
  const [old, now] = [was, is].map((names) => names.toSorted().join(", ") || "none");
  if (old !== now) differences.push(`${what}: was ${old}, is ${now}`);
}
