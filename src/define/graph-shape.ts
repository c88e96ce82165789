/** A graph of tasks as plain data, and what can be wrong with it. */
import { joinRules, type JoinRule } from "../machine/join.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import type { Json } from "../machine/job.ts";
import type { ProblemList } from "./problem.ts";
import { readChoice, refuseOthers } from "./setting.ts";

/** One task by name. `after` names its predecessors; `join` says how many of them must have succeeded. */
export interface GraphTask {
  readonly name: string;
  readonly after: readonly string[];
  readonly join: JoinRule;
  /** Its own, of data; keys in order. */
  readonly payload?: Json;
}

/**
 * 16 hex digits: the same for the same tasks, edges, joins and payloads, in whichever order they are written. It distinguishes shapes
 * and guards nothing. Computed at once: a digest that the platform computes beside would make simulated runs differ.
 */
export function shapeHash(tasks: readonly GraphTask[]): string {
  const lines = tasks.map(lineOf).toSorted();
  const text = lines.join("\n");
  return [offsetBasis, 0x9e3779b9].map((seed) => fnv1a(text, seed).toString(16).padStart(8, "0")).join("");
}

/** Without a payload as before there were any. */
const lineOf = ({ name, join, after, payload }: GraphTask): string =>
  JSON.stringify([name, join, after.toSorted(), ...(payload == null ? [] : [payload])]);

const offsetBasis = 0x811c9dc5;

/** FNV-1a of the UTF-16 units, with the mixing of MurmurHash3 at its end: texts that differ in their last letter lie far apart too. */
export function fnv1a(text: string, seed = offsetBasis): number {
  let hash = seed;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/**
 * Adds what is wrong with these tasks: names, unknown or repeated predecessors, size, and a cycle with its path. A graph
 * without problems has an order in which every task comes after its predecessors.
 */
export function checkGraph(problems: ProblemList, tasks: readonly GraphTask[]): void {
  if (!checkSize(problems, tasks)) return;
  const names = new Map<string, GraphTask>();
  for (const [place, task] of tasks.entries()) {
    checkName(problems, `tasks.${place}.name`, task.name);
    if (names.has(task.name)) problems.add(`tasks.${place}.name`, task.name, "is used twice", "rename one of them");
    names.set(task.name, task);
    readJoin(problems, `tasks.${place}.join`, task.join, task.after);
  }
  for (const [place, task] of tasks.entries()) checkAfter(problems, place, task, names);
  if (problems.found.length > 0) return;
  const cycle = findCycle(tasks);
  if (cycle === null) return;
  problems.add("tasks", cycle.join(" -> "), "is a cycle: none of these could ever start", "remove one of these edges");
}

/** A rule by name, or `{ atLeast: n }` of 1 to all of the predecessors. */
export function readJoin(problems: ProblemList, field: string, join: unknown, after: unknown): JoinRule {
  if (typeof join !== "object" || join === null)
    return readChoice(problems, field, join, { choices: joinRules, fallback: "all" });
  const { atLeast }: { readonly atLeast?: unknown } = join;
  refuseOthers(problems, join, ["atLeast"], `${field}.`);
  const max = Array.isArray(after) ? after.length : 0;
  if (Number.isInteger(atLeast) && Number(atLeast) >= 1 && Number(atLeast) <= max) return { atLeast: Number(atLeast) };
  if (max === 0) problems.add(field, join, "needs predecessors, and this task has none", "name them in after");
  else {
    const rule = `must be a whole number from 1 to ${max}, the number of its predecessors`;
    problems.add(`${field}.atLeast`, atLeast, rule, "change it");
  }
  return "all";
}

function checkSize(problems: ProblemList, tasks: readonly GraphTask[]): boolean {
  if (tasks.length > contractLimits.tasksMax) {
    problems.add("tasks", tasks.length, `must be at most ${contractLimits.tasksMax} tasks`, "split the graph");
    return false;
  }
  const edges = tasks.reduce((sum, task) => sum + task.after.length, 0);
  if (edges <= contractLimits.edgesMax) return true;
  problems.add(
    "tasks",
    edges,
    `must have at most ${contractLimits.edgesMax} edges together`,
    "put a task between wide levels",
  );
  return false;
}

/** Names are used only inside one run: any text that the database can store is allowed. */
function checkName(problems: ProblemList, field: string, name: unknown): void {
  const isText = typeof name === "string" && name.length > 0 && name.length <= contractLimits.taskNameCharactersMax;
  if (isText && name.isWellFormed() && !/\p{Cc}/u.test(name)) return;
  const rule = `must be text of 1 to ${contractLimits.taskNameCharactersMax} characters without control characters`;
  problems.add(field, name, rule, "rename it");
}

function checkAfter(
  problems: ProblemList,
  place: number,
  task: GraphTask,
  names: ReadonlyMap<string, GraphTask>,
): void {
  const seen = new Set<string>();
  for (const before of task.after) {
    const field = `tasks.${place}.after`;
    if (!names.has(before)) {
      problems.add(
        field,
        before,
        `is not a task of this graph ("${task.name}" waits for it)`,
        "add it, or remove the edge",
      );
    } else if (before === task.name) {
      problems.add(field, before, "would wait for itself", "remove the edge");
    } else if (seen.has(before)) {
      problems.add(field, before, `is named twice by "${task.name}"`, "name it once");
    }
    seen.add(before);
  }
}

/** @returns the names along one cycle, the first repeated at the end; null when there is none. */
export function findCycle(tasks: readonly GraphTask[]): readonly string[] | null {
  const stuck = neverFree(tasks);
  const names = new Set(stuck.map(({ name }) => name));
  // Each of them waits for another one of them, so a walk back comes to a task that it has passed.
  const back = new Map(stuck.map(({ name, after }) => [name, after.find((before) => names.has(before))]));
  const passed = new Set<string>();
  for (let name = stuck[0]?.name; name !== undefined; name = back.get(name)) {
    if (passed.has(name)) {
      const path = [...passed];
      return [name, ...path.slice(path.indexOf(name)).toReversed()];
    }
    passed.add(name);
  }
  return null;
}

/** The tasks that still wait when each one that waits for nothing has been taken away, and so on. */
function neverFree(tasks: readonly GraphTask[]): readonly GraphTask[] {
  const open = tasks.map((task) => ({ ...task, left: task.after.length }));
  const successors = Map.groupBy(
    open.flatMap((task) => task.after.map((before) => ({ before, task }))),
    (edge) => edge.before,
  );
  const free = open.filter(({ left }) => left === 0);
  for (let taken = free.pop(); taken !== undefined; taken = free.pop()) {
    for (const { task } of successors.get(taken.name) ?? []) {
      task.left -= 1;
      if (task.left === 0) free.push(task);
    }
  }
  return open.filter(({ left }) => left > 0);
}
