import type { Job } from "./context.ts";
import { definitionOf } from "./define-job.ts";
import { type AppDefinition, appFormat, type JobDefinition, type ScheduleDefinition } from "./definition.ts";
import type { LaneDefinition } from "./lane.ts";
import { type Limit, limitsOfApp } from "./limit.ts";
import type { Routes } from "./routes.ts";
import { ProblemList } from "./problem.ts";
import { checkId } from "./setting.ts";

export interface AppOptions {
  readonly name: string;
  /** Jobs that are only enqueued. A job that a schedule runs need not be repeated here. */
  readonly jobs?: readonly Pick<Job<never>, "id" | "enqueue">[];
  readonly schedules?: readonly ScheduleDefinition[];
  /** The lanes its jobs name, besides `default`. */
  readonly lanes?: Readonly<Record<string, LaneDefinition>>;
  /** Limits that only handlers take, by `ctx.limit`. One that a job names need not be repeated here. */
  readonly limits?: readonly Limit[];
  /** A folder of numbered SQL files with the app's own tables, like `new URL("./sql/", import.meta.url)`. */
  readonly migrations?: URL;
  /** A small HTTP app of its own, mounted by the API at `/apps/NAME`; `fetch` is all it needs to have. */
  readonly routes?: Routes;
}

/** What belongs together: jobs, when they run, and where. */
export function defineApp(options: AppOptions): AppDefinition {
  const problems = new ProblemList(`app "${options.name}"`);
  checkId(problems, "name", options.name);
  const schedules = options.schedules ?? [];
  const limits = limitsOfApp(options.limits ?? [], problems);
  const jobs = new Set<JobDefinition>(
    (options.jobs ?? []).map((each, at) => definitionOf(each, `app "${options.name}": jobs[${at}]`)),
  );
  for (const schedule of schedules) jobs.add(schedule.job);
  // The loop also visits jobs that are added during it, so made jobs bring theirs.
  for (const job of jobs) for (const made of job.makes ?? []) jobs.add(made);
  return {
    is: "app",
    format: appFormat,
    name: options.name,
    jobs: [...jobs],
    schedules,
    lanes: options.lanes ?? {},
    limits,
    migrations: options.migrations ?? null,
    routes: options.routes ?? null,
    problems: problems.found,
  };
}
