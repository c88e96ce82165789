import type { Pool } from "pg";
import type { OperationName } from "../../src/api/api.ts";
import { insightLimits } from "../../src/insight/insight-limits.ts";

export interface Asked {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With `{name}` for what differs from round to round. */
  readonly path: string;
  readonly body?: object;
  /** Rows that it reads at most, where there are more of them at 10 N alone. */
  readonly readsMax?: number;
}

const get = (path: string): Asked => ({ method: "GET", path });
const post = (path: string, body: object = {}): Asked => ({ method: "POST", path, body });
const { nightReadMax, nightBarsMax, nightOpenMax } = insightLimits;
/** Jobs and runs of two retentions and times that were skipped, and what is open; of its bars before, then of its cells. */
const nightReadsMax = 5 * (nightReadMax + 2 * nightBarsMax) + 4 * nightOpenMax;
const rule = { kind: "kept-1", cron: "0 8 * * *", timezone: "Asia/Seoul" };
const hourAgo = (hours: number): string => new Date(Date.now() - hours * 3_600_000).toISOString();

/** What each operation is asked for, in this order: the compiler misses an operation without a request. */
export const requests: Readonly<Record<OperationName, readonly Asked[]>> = {
  createJob: [
    post("/jobs", { kind: "kept-1", key: "new-{round}" }),
    post("/jobs", { kind: "kept-1", key: "new-{round}" }),
  ],
  countJobs: [get("/jobs/counts"), get("/jobs/counts?kind=kept-1"), get("/jobs/counts?key=key-77")],
  listJobs: [
    get("/jobs"),
    get("/jobs?state=FAILED"),
    get("/jobs?state=FAILED&kind=kept-1&error=E1"),
    get("/jobs?state=RUNNING"),
    get("/jobs?state=PENDING,RETRY_WAIT"),
    get("/jobs?state=PENDING,QUEUED&sort=due"),
    get("/jobs?sort=oldest"),
    get("/jobs?key=key-77"),
    get("/jobs?run={run}"),
    get("/jobs?schedule=kept-1&limit=1"),
    get("/jobs?kind=kept-1&lane=default"),
    get("/jobs?text=user&limit=20"),
    get("/jobs?text={failed}&id={failed}"),
    get("/jobs?worker=w-1&state=RUNNING&limit=5"),
    get("/jobs?worker=none&state=RUNNING"),
    get("/jobs?worker=none"),
    get(`/jobs?createdFrom=${hourAgo(1)}`),
    get(`/jobs?endedFrom=${hourAgo(1)}`),
    get("/jobs?fingerprint={fingerprint}&state=FAILED&limit=20"),
  ],
  getJob: [get("/jobs/{failed}"), get("/jobs/{task}"), get("/jobs/{running}"), get("/jobs/{held}?include=explanation")],
  getAttempt: [get("/jobs/{failed}/attempts/1")],
  explainJob: [
    get("/jobs/{failed}/explain"),
    get("/jobs/{pending}/explain"),
    get("/jobs/{held}/explain"),
    get("/jobs/{queued}/explain"),
  ],
  cancelJob: [post("/jobs/{pending}/cancel"), post("/jobs/{running}/cancel")],
  retryJob: [post("/jobs/{failed}/retry")],
  runJobNow: [post("/jobs/{waiting}/run-now"), post("/jobs/{queued}/run-now")],
  listRuns: [
    get("/runs"),
    get("/runs?state=RUNNING"),
    get("/runs?state=FAILED"),
    get("/runs?kind=kept"),
    get("/runs?key=run-77"),
    get(`/runs?createdFrom=${hourAgo(1)}`),
  ],
  getRun: [get("/runs/{run}"), get("/runs/{open}")],
  getRunMap: [get("/runs/{run}/map"), get("/runs/{failedRun}/map")],
  getRunMatrix: [get("/runs/{run}/matrix")],
  listTasks: [get("/runs/{run}/tasks"), get("/runs/{open}/tasks?state=FAILED")],
  rerunRun: [post("/runs/{run}/rerun")],
  retryRun: [post("/runs/{failedRun}/retry")],
  signalRun: [post("/runs/{open}/signals/t1")],
  cancelRun: [post("/runs/{open}/cancel")],
  listLanes: [get("/lanes")],
  pauseLane: [post("/lanes/mail/pause", { reason: "growth" })],
  resumeLane: [post("/lanes/mail/resume")],
  setCap: [{ method: "PUT", path: "/caps/capped", body: { size: 3 } }],
  getSummary: [get("/summary"), get("/summary?minutes=60")],
  getThroughput: [get("/throughput?minutes=60"), get("/throughput?minutes=1440")],
  listKinds: [get("/kinds")],
  listKindFigures: [get("/kind-figures?hours=24"), get("/kind-figures?hours=1&against=24&include=spread")],
  listDeadLetters: [get("/dead-letters"), get("/dead-letters?kind=kept-1")],
  redriveDeadLetters: [post("/dead-letters/redrive", { filter: { key: "none" } })],
  createBulk: [
    post("/bulk", { action: "retry", filter: { kind: "kept-1", state: ["FAILED"] }, dryRun: true }),
    post("/bulk", { action: "cancel", filter: { state: ["PENDING"], kind: "kept-1" }, dryRun: true }),
  ],
  listBulks: [get("/bulk")],
  getBulk: [get("/bulk/{bulk}")],
  stopBulk: [post("/bulk/{bulk}/stop")],
  listLocks: [get("/locks")],
  listAudits: [
    get("/audits"),
    get("/audits?target=/jobs/{failed}"),
    get("/audits?target=/dead-letters,/bulk"),
    get("/audits?caller=deployment"),
  ],
  listEvents: [get("/events"), get("/events?state=FAILED")],
  listSchedules: [get("/schedules"), get("/schedules?limit=50")],
  listScheduleOutcomes: [
    get("/schedule-outcomes"),
    get("/schedule-outcomes?sort=next"),
    get("/schedule-outcomes?id=kept-1"),
    get("/schedule-outcomes?id=kept-1&include=times"),
    get("/schedule-outcomes?text=kept-1"),
    get("/schedule-outcomes?state=failing&sort=failing"),
    get("/schedule-outcomes?sort=lateness"),
  ],
  listUpcoming: [get("/upcoming?hours=1"), get("/upcoming?hours=24")],
  listObjectives: [get("/objectives")],
  getCosts: [get("/costs"), get("/costs?by=schedule"), get("/costs?by=key")],
  simulateSchedules: [get("/simulation?days=1")],
  getNight: ["schedule", "kind", "lane"].map((by) => ({
    ...get(`/night?from=${hourAgo(160)}&by=${by}`),
    readsMax: nightReadsMax,
  })),
  listOccurrences: [
    get("/schedules/kept-1/occurrences"),
    get(`/schedules/kept-1/occurrences?nominalFrom=${hourAgo(48)}&nominalTo=${hourAgo(1)}`),
  ],
  countOccurrences: [get("/schedules/kept-1/occurrences/counts")],
  createSchedule: [post("/schedules", { id: "new-{round}", ...rule })],
  replaceSchedule: [{ method: "PUT", path: "/schedules/new-{round}", body: { ...rule, cron: "0 9 * * *" } }],
  patchSchedule: [{ method: "PATCH", path: "/schedules/new-{round}", body: { cron: "0 10 * * *" } }],
  pauseSchedule: [post("/schedules/new-{round}/pause", { reason: "growth" })],
  resumeSchedule: [post("/schedules/new-{round}/resume")],
  triggerSchedule: [post("/schedules/new-{round}/trigger")],
  backfillSchedule: [
    post("/schedules/new-{round}/backfill", { from: hourAgo(72), to: hourAgo(1), dryRun: true, force: true }),
    post("/schedules/new-{round}/backfill", { from: hourAgo(72), to: hourAgo(1), force: true }),
  ],
  getSchedule: [get("/schedules/kept-1")],
  nextTimes: [get("/schedules/kept-1/next")],
  explainTime: [get("/schedules/kept-1/explain?time=2026-11-21T03:00")],
  deleteSchedule: [{ method: "DELETE", path: "/schedules/new-{round}", body: {} }],
  previewExpression: [get("/preview?expression=0%208%20*%20*%20*")],
  getHealth: [get("/health")],
  getLive: [get("/livez")],
  getReady: [get("/readyz")],
  getMetrics: [get("/metrics")],
};

/** Screens of the console, by the requests they begin with: their files in `src/console/screens`. */
export const screens: Readonly<Record<string, readonly string[]>> = {
  overview: ["/summary?minutes=60"],
  jobs: ["/jobs", "/jobs/counts"],
  job: ["/jobs/{held}?include=explanation", "/jobs/{failed}/attempts/1", "/audits?target=/jobs/{failed}"],
  schedules: ["/schedule-outcomes"],
  schedule: ["/schedule-outcomes?id=kept-1&include=times", "/audits"],
  upcoming: ["/upcoming?hours=24"],
  kinds: ["/kind-figures?hours=24"],
  runs: ["/runs"],
  run: ["/runs/{run}/map", "/runs/{failedRun}/map"],
  "dead-letters": ["/dead-letters"],
  lanes: ["/lanes"],
  locks: ["/locks"],
  activity: ["/audits"],
};

/** What `{name}` stands for in a round: other rows in each round, the same ones at both sizes where there are such. */
export async function placeholders(pool: Pool, round: number): Promise<ReadonlyMap<string, string>> {
  const nth = `limit 1 offset ${10 + round * 3}`;
  const jobWith = (condition: string): string =>
    `(select id::text from belfry.job where ${condition} order by id ${nth})`;
  const { rows } = await pool.query<Record<string, string>>(`select
    ${jobWith("state = 'FAILED' and finished_at is not null and error_code is not null and run_id is null and key like 'key-%'")} as failed,
    ${jobWith("state = 'PENDING' and finished_at is null and run_id is null and hold = 'none'")} as pending,
    ${jobWith("state = 'RETRY_WAIT' and finished_at is null")} as waiting,
    ${jobWith("held_on like 'cap:kept-%' and finished_at is null")} as held,
    ${jobWith("state = 'QUEUED' and finished_at is null")} as queued,
    ${jobWith("state = 'RUNNING' and finished_at is null")} as running,
    ${jobWith("kind = 'kept-task' and finished_at is not null")} as task,
    (select id::text from belfry.run where kind = 'kept' and state = 'DONE' order by id ${nth}) as run,
    (select id::text from belfry.run where kind = 'kept' and state = 'FAILED' order by id ${nth}) as "failedRun",
    (select id::text from belfry.run where kind = 'kept' and state = 'RUNNING' order by id ${nth}) as open,
    (select max(id)::text from belfry.bulk) as bulk,
    (select belfry.fingerprint(kind, error_code, error_message) from belfry.job where id = 77) as fingerprint`);
  return new Map(Object.entries({ ...rows[0], round: String(round) }));
}
