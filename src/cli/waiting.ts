import { fileURLToPath } from "node:url";
import type { HealthReply } from "../api/shape/schedule.ts";
import { loadApps } from "../compose/apps.ts";
import { checkAgainst, type WaitingJob } from "../define/against.ts";
import type { AppDefinition } from "../define/definition.ts";
import type { Problem } from "../define/problem.ts";
import { lasting, ownFolder } from "../postgres/migration-files.ts";
import type { Project } from "../stage/project.ts";
import type { Stage } from "../stage/stages.ts";
import { type ApiClient, pagesOf } from "./client.ts";

/** A payload that is too large for a list is asked for by itself. */
const pagesMax = 20;

export interface Waiting {
  readonly stage: string;
  /** How many were looked at. */
  readonly jobs: number;
  readonly runs: number;
  readonly isMore: boolean;
  readonly problems: readonly Problem[];
  /** Migrations of this release behind which the release of the stage cannot go back; a stage that has none yet has no such. */
  readonly lasting: readonly { readonly of: string; readonly files: readonly string[] }[];
}

/** What waits in a deployed stage, and what of it these definitions could no longer run. The oldest are looked at first. */
export async function waitingAgainst(project: Project, stage: Stage, client: ApiClient): Promise<Waiting> {
  const open = { state: "PENDING,QUEUED,RUNNING,RETRY_WAIT", sort: "oldest" };
  const jobPages = await pagesOf((page) => client.call("listJobs", { ...open, ...page }), pagesMax);
  const runPages = await pagesOf((page) => client.call("listRuns", { state: "RUNNING", ...page }), pagesMax);
  const jobs = jobPages.pages.flatMap((page) => page.jobs);
  const runs = runPages.pages.flatMap((page) => page.runs);
  const whole: WaitingJob[] = [];
  for (const job of jobs)
    whole.push(job.payload === null && job.payloadBytes > 4 ? await client.call("getJob", { id: job.id }) : job);
  const apps = await loadApps(project, stage);
  return {
    stage: stage.name,
    jobs: jobs.length,
    runs: runs.length,
    isMore: jobPages.last.nextCursor !== null || runPages.last.nextCursor !== null,
    problems: await checkAgainst(apps, stage.name, { jobs: whole, runs }),
    lasting: lastingOf(apps, await client.call("getHealth")),
  };
}

/** Files that an app has for the first time take nothing from the release before, which knows none of them. */
function lastingOf(
  apps: readonly AppDefinition[],
  { schemaVersion, appSchemas }: Pick<HealthReply, "schemaVersion" | "appSchemas">,
): Waiting["lasting"] {
  const own = { of: "belfry", files: lasting(ownFolder, schemaVersion ?? 0) };
  const others = apps.flatMap(({ name, migrations }) => {
    const known = appSchemas.find(({ app }) => app === name);
    return migrations === null || known === undefined
      ? []
      : [{ of: name, files: lasting(fileURLToPath(migrations), known.version) }];
  });
  return [own, ...others].filter(({ files }) => files.length > 0);
}
