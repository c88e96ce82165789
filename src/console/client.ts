/** Every request of the page. Where the API's shape and the page's differ, they meet here. */
import { correct } from "./clock.ts";
import { get, post, query } from "./http.ts";
import type {
  Count,
  Edge,
  Explanation,
  FailureGroup,
  JobCounts,
  JobDetail,
  JobPage,
  Lane,
  Lock,
  Minute,
  Occurrence,
  Run,
  Schedule,
  SlotUse,
  Summary,
  Task,
  Worker,
} from "./shape.ts";

/** Fields of the filter, as the API calls them. */
export type JobQuery = Readonly<Record<string, string>>;

const at = encodeURIComponent;

export const loadJobs = (filter: JobQuery, page: { cursor: string | null; limit: number }, signal?: AbortSignal) =>
  get<JobPage>(`/jobs${query({ ...filter, cursor: page.cursor, limit: page.limit })}`, signal);
/** Of each state, whichever states the filter asks for. */
export const countJobs = (filter: JobQuery, signal?: AbortSignal) =>
  get<JobCounts>(`/jobs/counts${query({ ...filter, state: null })}`, signal);
export const loadJob = (id: string, signal?: AbortSignal) => get<JobDetail>(`/jobs/${at(id)}`, signal);
export const explainJob = (id: string, signal?: AbortSignal) => get<Explanation>(`/jobs/${at(id)}/explain`, signal);
export const retryJob = (id: string) => post<JobDetail>(`/jobs/${at(id)}/retry`);
export const cancelJob = (id: string) => post<JobDetail>(`/jobs/${at(id)}/cancel`);
export const runJobNow = (id: string) => post<JobDetail>(`/jobs/${at(id)}/run-now`);

export async function loadSummary(signal?: AbortSignal): Promise<Summary> {
  const summary = await get<Summary>("/summary", signal);
  correct(summary.at);
  return summary;
}
export const loadMinutes = async (minutes: number, signal?: AbortSignal): Promise<readonly Minute[]> =>
  (await get<{ minutes: readonly Minute[] }>(`/throughput${query({ minutes })}`, signal)).minutes;

/** All of them; a page holds ten thousand, so there is nearly always one. */
export async function loadSchedules(signal?: AbortSignal): Promise<readonly Schedule[]> {
  const all: Schedule[] = [];
  let cursor: string | null = null;
  do {
    const page: SchedulePage = await get(`/schedules${query({ cursor })}`, signal);
    all.push(...page.schedules);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return all;
}
interface SchedulePage {
  readonly schedules: readonly Schedule[];
  readonly nextCursor: string | null;
}
export const loadOccurrences = async (id: string, limit: number, signal?: AbortSignal) =>
  (await get<{ occurrences: readonly Occurrence[] }>(`/schedules/${at(id)}/occurrences${query({ limit })}`, signal))
    .occurrences;

/** The next times of a schedule. One that does not fire has a note that says why. */
export interface NextTime {
  readonly at: string;
  readonly localTime: string;
  readonly fires: boolean;
  readonly note: string | null;
}
export const loadNext = async (id: string, count: number, signal?: AbortSignal): Promise<readonly NextTime[]> =>
  (await get<{ times: readonly NextTime[] }>(`/schedules/${at(id)}/next${query({ count })}`, signal)).times;
export const pauseSchedule = (id: string) => post<Schedule>(`/schedules/${at(id)}/pause`);
export const resumeSchedule = (id: string) => post<Schedule>(`/schedules/${at(id)}/resume`);
export const runSchedule = (id: string) => post<{ id: string }>(`/schedules/${at(id)}/trigger`);

/** What a backfill did, or would do. */
export interface Backfill {
  readonly times: readonly { readonly nominalAt: string; readonly was: string; readonly runs: boolean }[];
  readonly added: number;
  readonly again: number;
}
export const backfill = (id: string, range: { from: string; to: string; dryRun: boolean }) =>
  post<Backfill>(`/schedules/${at(id)}/backfill`, range);

export interface RunPage {
  readonly runs: readonly Run[];
  readonly nextCursor: string | null;
}
export const loadRuns = (page: { cursor: string | null; state?: string; kind?: string }, signal?: AbortSignal) =>
  get<RunPage>(`/runs${query({ limit: 50, ...page })}`, signal);
export const loadRun = (id: string, signal?: AbortSignal) => get<Run>(`/runs/${at(id)}`, signal);
export const retryRun = (id: string) => post<{ again: readonly string[] }>(`/runs/${at(id)}/retry`);
export const cancelRun = (id: string) => post<{ canceled: number }>(`/runs/${at(id)}/cancel`);
export const rerunRun = (id: string) => post<Run>(`/runs/${at(id)}/rerun`);

export interface RunTasks {
  readonly tasks: readonly Task[];
  /** Of a task with very many predecessors only the first ones. */
  readonly edges: readonly Edge[];
  /** There are more than were loaded. */
  readonly isMore: boolean;
}

const taskPageRows = 500;

/** All tasks up to `max`, page by page. */
export async function loadTasks(run: string, max: number, signal?: AbortSignal): Promise<RunTasks> {
  const tasks: Task[] = [];
  let cursor: string | null = null;
  do {
    const page: { tasks: Task[]; nextCursor: string | null } = await get(
      `/runs/${at(run)}/tasks${query({ limit: taskPageRows, cursor })}`,
      signal,
    );
    tasks.push(...page.tasks);
    cursor = page.nextCursor;
  } while (cursor !== null && tasks.length < max);
  const edges = tasks.flatMap(({ job, after }) => after.map((from) => ({ from, to: job })));
  return { tasks, edges, isMore: cursor !== null };
}

export const loadFailureGroups = (signal?: AbortSignal) =>
  get<{ groups: readonly FailureGroup[]; isMore: boolean }>("/dead-letters", signal);
export const loadLanes = (signal?: AbortSignal) =>
  get<{ lanes: readonly Lane[]; caps: readonly SlotUse[]; isMore: boolean }>("/lanes", signal);
export const pauseLane = (name: string) => post<Lane>(`/lanes/${at(name)}/pause`);
export const resumeLane = (name: string) => post<Lane>(`/lanes/${at(name)}/resume`);
export const loadWorkers = async (signal?: AbortSignal): Promise<readonly Worker[]> =>
  (await get<{ workers: readonly Worker[] }>("/workers", signal)).workers;
export const loadLocks = (signal?: AbortSignal) =>
  get<{ locks: readonly Lock[]; jobLocks: readonly SlotUse[] }>("/locks", signal);

export type BulkAction = "retry" | "cancel";

/** A change of every job that matches, while it goes on and afterwards. */
export interface Bulk {
  readonly id: string;
  readonly state: "RUNNING" | "DONE" | "STOPPED";
  /** When it was asked for. */
  readonly matched: Count;
  readonly changed: number;
  /** Matched, but moved by somebody else before their turn. */
  readonly refused: number;
}

export const countBulk = async (action: BulkAction, filter: JobQuery): Promise<Count> =>
  (await post<{ matched: Count }>("/bulk", { action, filter: nested(filter), dryRun: true })).matched;
export const startBulk = (action: BulkAction, filter: JobQuery) =>
  post<Bulk>("/bulk", { action, filter: nested(filter) });
export const loadBulk = (id: string) => get<Bulk>(`/bulk/${at(id)}`);
export const stopBulk = (id: string) => post<Bulk>(`/bulk/${at(id)}/stop`);

/** A body has the members of the payload in an object of their own. */
function nested(filter: JobQuery): Readonly<Record<string, unknown>> {
  const fields = Object.entries(filter);
  const members = fields.filter(([name]) => name.startsWith("payload."));
  return {
    ...Object.fromEntries(fields.filter(([name]) => !name.startsWith("payload."))),
    ...(members.length === 0
      ? {}
      : { payload: Object.fromEntries(members.map(([name, value]) => [name.slice("payload.".length), value])) }),
  };
}
