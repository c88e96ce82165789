import { type AppDefinition, graphVersionOf, type JobDefinition, registry } from "./definition.ts";
import { tasksOfRun } from "./define-data-graph.ts";
import { type GraphTask, shapeHash } from "./graph-shape.ts";
import { type Problem, ProblemList } from "./problem.ts";

export interface WaitingJob {
  readonly id: string;
  readonly kind: string;
  readonly payload: unknown;
}

export interface WaitingRun {
  readonly id: string;
  readonly kind: string;
  readonly version: number;
  readonly shape: string | null;
  readonly input: unknown;
}

/**
 * Waiting jobs that these definitions cannot run: the kind was removed, the schema refuses the payload or input, or the graph
 * is older than the version of a run or has other tasks or edges under the same version. One problem for each kind and reason.
 */
export async function checkAgainst(
  apps: readonly AppDefinition[],
  stage: string,
  waiting: { readonly jobs: readonly WaitingJob[]; readonly runs: readonly WaitingRun[] },
): Promise<readonly Problem[]> {
  const { jobs: known } = registry(apps);
  const found = new Found(stage);
  for (const job of waiting.jobs) {
    const definition = known.get(job.kind);
    if (definition === undefined) found.gone("job", job);
    else await found.payload("job", job, definition, job.payload);
  }
  for (const run of waiting.runs) {
    const definition = known.get(run.kind);
    if (definition === undefined) found.gone("run", run);
    else if ((graphVersionOf(definition) ?? run.version) < run.version) found.older(run, definition);
    else if (await isReshaped(run, definition)) found.reshaped(run, definition);
    else await found.payload("run", run, definition, run.input);
  }
  return found.problems();
}

async function isReshaped(run: WaitingRun, definition: JobDefinition): Promise<boolean> {
  const { body } = definition;
  if (!("version" in body) || body.version !== run.version || run.shape === null) return false;
  const tasks = body.is === "graph" ? body.tasks : await tasksOfInput(run, definition);
  return tasks !== null && shapeHash(tasks) !== run.shape;
}

/** As an answer of the API shows a member that is sensitive. */
const hidden = '"[hidden]"';

/** Of a graph that comes as data, for the input of that run. Null when they cannot be computed here: nothing is compared then. */
async function tasksOfInput(run: WaitingRun, { body, ...graph }: JobDefinition): Promise<readonly GraphTask[] | null> {
  if (body.is !== "dataGraph" || JSON.stringify(run.input ?? null).includes(hidden)) return null;
  try {
    return await tasksOfRun({ ...graph, body }, run.input);
  } catch {
    return null;
  }
}

type Thing = "job" | "run";
interface Named {
  readonly id: string;
  readonly kind: string;
}

/** By kind and reason: the first one is shown, and how many there are. */
class Found {
  readonly #stage: string;
  readonly #groups = new Map<string, { field: string; value: unknown; rule: string; fix: string; count: number }>();

  constructor(stage: string) {
    this.#stage = stage;
  }

  gone(thing: Thing, { id, kind }: Named): void {
    const rule = `is not defined here, and ${thing} ${id} of it waits`;
    const fix = "keep its definition until none waits, or cancel them";
    this.#add(`${thing} ${kind} gone`, { field: `kinds.${kind}`, value: kind, rule, fix });
  }

  async payload(thing: Thing, { id, kind }: Named, definition: JobDefinition, value: unknown): Promise<void> {
    const checked = await definition.check(value);
    if (checked.ok) return;
    const [issue] = checked.issues;
    const what = thing === "job" ? "payload" : "input";
    const rule = `must take what waits: ${thing} ${id} has ${issue?.path ? `"${issue.path}"` : "one"} that ${issue?.message ?? "it refuses"}`;
    const fix = "widen the schema (an optional member, a default), or let those end first";
    this.#add(`${thing} ${kind} ${issue?.path}`, { field: `kinds.${kind}.${what}`, value, rule, fix });
  }

  older({ id, kind, version }: WaitingRun, definition: JobDefinition): void {
    const rule = `must not be lower than ${version}, the version of run ${id}`;
    const value = graphVersionOf(definition);
    const fix = "do not go back while it is open";
    this.#add(`run ${kind} older`, { field: `kinds.${kind}.version`, value, rule, fix });
  }

  reshaped({ id, kind, version }: WaitingRun, definition: JobDefinition): void {
    const rule = `must have the tasks and edges of run ${id}, which has version ${version} too`;
    const fix = "raise the version of a graph whose tasks or edges change";
    const value = graphVersionOf(definition);
    this.#add(`run ${kind} reshaped`, { field: `kinds.${kind}.version`, value, rule, fix });
  }

  problems(): readonly Problem[] {
    const list = new ProblemList(`stage "${this.#stage}"`);
    for (const { field, value, rule, fix, count } of this.#groups.values()) {
      list.add(field, value, count === 1 ? rule : `${rule} (and ${count - 1} more)`, fix);
    }
    return list.found;
  }

  #add(group: string, problem: Omit<Problem, "thing" | "value"> & { readonly value: unknown }): void {
    const known = this.#groups.get(group);
    if (known === undefined) this.#groups.set(group, { ...problem, count: 1 });
    else known.count += 1;
  }
}
