import { loadApps } from "../apps.ts";
import { checkAgainst, type WaitingJob, type WaitingRun } from "../core/define/against.ts";
import type { Problem } from "../core/define/problem.ts";
import type { Project } from "../project.ts";
import type { Stage } from "../stages.ts";
import type { ApiClient } from "./client.ts";

const pageSize = 500;
/** A payload that is too large for a list is asked for by itself. */
const pagesMax = 20;

export interface Waiting {
  readonly stage: string;
  /** How many were looked at. */
  readonly jobs: number;
  readonly runs: number;
  readonly isMore: boolean;
  readonly problems: readonly Problem[];
}

/** What waits in a deployed stage, and what of it these definitions could no longer run. The oldest are looked at first. */
export async function waitingAgainst(project: Project, stage: Stage, client: ApiClient): Promise<Waiting> {
  const jobs = await all(async (cursor) => {
    const query = { state: "PENDING,QUEUED,RUNNING,RETRY_WAIT", sort: "oldest", ...cursor };
    const page = await client.get<{ jobs: readonly ListedJob[]; nextCursor: string | null }>("/jobs", query);
    return { rows: page.jobs, nextCursor: page.nextCursor };
  });
  const runs = await all(async (cursor) => {
    const query = { state: "RUNNING", ...cursor };
    const page = await client.get<{ runs: readonly WaitingRun[]; nextCursor: string | null }>("/runs", query);
    return { rows: page.runs, nextCursor: page.nextCursor };
  });
  const whole: WaitingJob[] = [];
  for (const job of jobs.rows)
    whole.push(job.payload === null && job.payloadBytes > 4 ? await client.job(job.id) : job);
  const problems = await checkAgainst(await loadApps(project, stage), stage.name, { jobs: whole, runs: runs.rows });
  return {
    stage: stage.name,
    jobs: jobs.rows.length,
    runs: runs.rows.length,
    isMore: jobs.isMore || runs.isMore,
    problems,
  };
}

type ListedJob = WaitingJob & { readonly payloadBytes: number };

interface Page<T> {
  readonly rows: readonly T[];
  readonly nextCursor: string | null;
}

type Cursor = Readonly<Record<string, string>>;

async function all<T>(read: (cursor: Cursor) => Promise<Page<T>>): Promise<{ rows: readonly T[]; isMore: boolean }> {
  const rows: T[] = [];
  let cursor: Cursor = {};
  for (let count = 0; count < pagesMax; count += 1) {
    const page = await read({ ...cursor, limit: String(pageSize) });
    rows.push(...page.rows);
    if (page.nextCursor === null) return { rows, isMore: false };
    cursor = { cursor: page.nextCursor };
  }
  return { rows, isMore: true };
}
