/** What the document says about each operation beyond its schemas, and a request that shows it. */
export type OperationTag = keyof typeof tags;

export const tags = {
  jobs: "One row each: a kind, a payload and a state. Every change of state is an event.",
  runs: "Jobs that belong together: the tasks of a graph or the targets of a fan-out.",
  schedules: "When a job is to run, and the policies for clock changes, misfires and overlaps.",
  lanes: "Queues with their workers and limits, caps and locks.",
  bulk: "One change of many jobs, chosen by a filter, in pages.",
  events: "What happened, live or page by page.",
  system: "Whether it works, and what it is made of.",
} as const;

interface Operation {
  readonly tag: OperationTag;
  readonly description: string;
  /** Values of the path, the query and the body. */
  readonly example: {
    readonly params?: Readonly<Record<string, string>>;
    readonly query?: Readonly<Record<string, string>>;
    readonly body?: object;
  };
}

const job = { params: { id: "42" } };
const run = { params: { id: "7" } };
const nightly = { params: { id: "nightly" } };
const nightlyRule = { kind: "hello", cron: "30 2 * * *", timezone: "Europe/Berlin" };

export const operations = {
  createJob: {
    tag: "jobs",
    description:
      "Answers 201 for a new job and 200 for the one that has the key already. The key may also come as the header `Idempotency-Key`. The same key with another payload is refused; another due time does not move a job that exists, and `notes` says so.",
    example: { body: { kind: "hello", key: "first-hello", delay: "10m" } },
  },
  countJobs: {
    tag: "jobs",
    description:
      "By state, for the filters of `listJobs`. A count stops at a bound; `isMore` then says that there are more.",
    example: { query: { kind: "hello" } },
  },
  listJobs: {
    tag: "jobs",
    description:
      "A page of jobs. `payload.NAME=value` compares a member of the payload as text, up to three of them. When `complete` is false the search ended before it filled the page: go on with the cursor. With `sort=due` it is also false when more is out, held or waits for tasks than is looked at: 1,000 messages a lane, 200 slot groups, 250 open runs.",
    example: { query: { state: "FAILED,RETRY_WAIT", limit: "20" } },
  },
  getJob: { tag: "jobs", description: "With the attempts that have ended and its events.", example: job },
  getAttempt: {
    tag: "jobs",
    description:
      "Of an attempt that failed: the stack, the causes, the response of the service it called, and the last lines it logged, each cut. Of the newest one also when it was due and when its message was sent.",
    example: { params: { id: "42", attempt: "1" } },
  },
  cancelJob: {
    tag: "jobs",
    description:
      "A running handler is aborted at its next heartbeat. Canceling a canceled job changes nothing and is no error. The job is canceled when this answers, with a 202 when thousands of its run are skipped because of it: these follow.",
    example: job,
  },
  retryJob: {
    tag: "jobs",
    description:
      "Same id, key and history; due now. A job of a run takes along what was skipped because of it; when that may be more than 1,000 jobs, it answers 202 with the bulk action that does it.",
    example: job,
  },
  runJobNow: {
    tag: "jobs",
    description: "Makes a waiting job due now. A job that is due already stays as it is.",
    example: job,
  },
  explainJob: {
    tag: "jobs",
    description: "One sentence with the cause, what to do about it, when it goes on, and which jobs must end before.",
    example: job,
  },
  listRuns: {
    tag: "runs",
    description: "A page of runs, the newest first.",
    example: { query: { state: "RUNNING,FAILED" } },
  },
  getRunMap: {
    tag: "runs",
    description: "Every task of the run, up to 10,000, in columns, with the edges between them.",
    example: run,
  },
  getRun: { tag: "runs", description: "Its progress counts jobs; `percent` is of those written so far.", example: run },
  listTasks: {
    tag: "runs",
    description: "In the order in which they were written, with the edges that lead to each.",
    example: { ...run, query: { state: "FAILED" } },
  },
  retryRun: {
    tag: "runs",
    description:
      "Goes on from what failed. What succeeded is not repeated. When more than 1,000 jobs did not succeed, it answers 202 with the bulk action that puts them back in pages.",
    example: run,
  },
  cancelRun: {
    tag: "runs",
    description:
      "Cancels every open job of the run. A run that is canceled already stays so. Of more than 1,000 jobs the rest is canceled after the answer, which is a 202 then: follow the run until its state is `CANCELED`. The history of each job names you.",
    example: run,
  },
  rerunRun: {
    tag: "runs",
    description:
      "A new run from the same input by the definition of this release. It names the old one as its parent. It is written in one transaction, so no reader meets a part of a run: at most 50,000 tasks, which take about 3 seconds. Each request makes one: before you repeat a request without an answer, look at `listRuns` with `parent`.",
    example: run,
  },
  listLanes: {
    tag: "lanes",
    description: "What waits, runs and is held in each lane, the caps in use, and the workers of the last hour.",
    example: {},
  },
  pauseLane: {
    tag: "lanes",
    description:
      "No worker starts a job of it within a second. Jobs that run go on. With `until` the pause ends by itself: the jobs on hold start within a minute. The same pause again changes nothing.",
    example: {
      params: { name: "default" },
      body: { until: "6:00", timezone: "Asia/Seoul", reason: "the provider is away" },
    },
  },
  resumeLane: {
    tag: "lanes",
    description:
      "Also releases the jobs that arrived during the pause. Of more than 1,000 the rest is released after the answer, which is a 202 then: `held.paused` of `listLanes` says how many are left.",
    example: { params: { name: "default" } },
  },
  setCap: {
    tag: "lanes",
    description: "Holds until the next release installs the number of the definition.",
    example: { params: { kind: "report" }, body: { size: 3 } },
  },
  getSummary: {
    tag: "system",
    description:
      "What is live, what waits for a person, and what the last hour brought. A caller with a scope sees its lanes and its kinds.",
    example: { query: { minutes: "60" } },
  },
  getThroughput: {
    tag: "system",
    description: "From the roll-up of the events. Minutes without any are left out.",
    example: { query: { minutes: "60" } },
  },
  listKinds: {
    tag: "system",
    description:
      "Every kind of this release with the JSON Schema of its payload. `startable` is false for a task: its graph is started instead.",
    example: {},
  },
  listKindFigures: {
    tag: "system",
    description:
      "By kind and lane: attempts, failures and the p50, p95 and p99 of waiting and running, in a period and in one `against` hours earlier. Kept for 90 days by the hour.",
    example: { query: { hours: "168", against: "168" } },
  },
  listDeadLetters: {
    tag: "bulk",
    description: "FAILED jobs by fingerprint, the largest group first, each with its newest jobs as samples.",
    example: { query: { kind: "hello" } },
  },
  redriveDeadLetters: {
    tag: "bulk",
    description:
      "Retries FAILED jobs, several groups at once, at a pace that is written at most two minutes ahead. With `canary` one job of each group goes first; the rest follows when all of them have succeeded, and stays as it is when one does not. Answers 202 with the bulk action that does it, or 200 with a count for a dry run.",
    example: { body: { filter: { kind: "hello" }, pace: "200ms", canary: true } },
  },
  createBulk: {
    tag: "bulk",
    description: "Answers 202 with the bulk action: follow it at its `Location`. A dry run answers 200 with a count.",
    example: { body: { action: "cancel", filter: { kind: "hello", state: ["PENDING"] }, dryRun: true } },
  },
  listBulks: { tag: "bulk", description: "A page of bulk actions, the newest first.", example: {} },
  getBulk: {
    tag: "bulk",
    description: "How many jobs it changed, and how many had moved before their turn.",
    example: { params: { id: "3" } },
  },
  stopBulk: {
    tag: "bulk",
    description: "Changes nothing further. What it has changed stays changed.",
    example: { params: { id: "3" } },
  },
  listLocks: { tag: "lanes", description: "Who holds which lock, with the fence of its newest holder.", example: {} },
  listAudits: {
    tag: "events",
    description:
      "Who changed what through this API. Of a payload the row has an HMAC under a key of the stage; `trace` is the request id of the answer. `role` and `session` are those of a signed caller, who chooses the name of the session.",
    example: { query: { limit: "20" } },
  },
  listEvents: {
    tag: "events",
    description:
      "With `accept: text/event-stream`, live: a `snapshot`, then a `job` event for each change of state; `gap` says that some may be missing. Reconnect with `Last-Event-ID`. Otherwise a page as JSON: ask again with its cursor.",
    example: { query: { state: "FAILED" } },
  },
  listSchedules: { tag: "schedules", description: "A page of schedules by id.", example: {} },
  listScheduleOutcomes: {
    tag: "schedules",
    description: "By filter and order, each with its next time, its last 30 times and since when it fails.",
    example: { query: { state: "failing", sort: "failing" } },
  },
  listUpcoming: {
    tag: "schedules",
    description:
      "What all schedules will start, with what is paused, may overlap or may find its cap full; and the expected work of each lane beside its capacity, by the p50 of each kind in the last week.",
    example: { query: { hours: "1" } },
  },
  listOccurrences: {
    tag: "schedules",
    description: "What became of each nominal time, the newest first; also after the schedule was deleted.",
    example: nightly,
  },
  createSchedule: {
    tag: "schedules",
    description: "Beside those in code. Exactly one of `cron`, `every` and `at` says when it fires.",
    example: { body: { id: "nightly", ...nightlyRule } },
  },
  replaceSchedule: {
    tag: "schedules",
    description:
      "A new version from now on, with all its settings; what was planned after now is withdrawn. `If-Match` refuses a version that is not yours.",
    example: { ...nightly, body: { ...nightlyRule, cron: "0 3 * * *" } },
  },
  patchSchedule: {
    tag: "schedules",
    description:
      "A new version that differs in the settings given. One of `cron`, `every` and `at` replaces whichever it has.",
    example: { ...nightly, body: { cron: "0 4 * * *" } },
  },
  deleteSchedule: {
    tag: "schedules",
    description:
      "Nothing of it starts any more, and the next passes cancel its jobs that wait. Its ledger and versions stay readable.",
    example: nightly,
  },
  pauseSchedule: {
    tag: "schedules",
    description:
      "Its times are SKIPPED from now on. Decided at claim, so it also stops what is queued. With `until` the pause ends by itself. The same pause again changes nothing.",
    example: { ...nightly, body: { until: "2h", reason: "the source is being moved" } },
  },
  resumeSchedule: { tag: "schedules", description: "Its times fire again from now on.", example: nightly },
  triggerSchedule: {
    tag: "schedules",
    description: "One job now, beside its times and also while it is paused. With a key, at most once.",
    example: { ...nightly, body: { key: "by-hand-0815" } },
  },
  backfillSchedule: {
    tag: "schedules",
    description:
      "Makes the jobs of past nominal times that never ran, each by the version in force then. Never makes one twice. It is a bulk action: `getBulk` says how far it is, `stopBulk` ends it; `refused` counts times for which no payload could be made.",
    example: {
      ...nightly,
      body: { from: "2026-11-20T00:00:00Z", to: "2026-11-21T00:00:00Z", force: true, dryRun: true },
    },
  },
  getSchedule: {
    tag: "schedules",
    description: "With its versions, also after it was deleted. `ETag` is its version.",
    example: nightly,
  },
  nextTimes: {
    tag: "schedules",
    description: "With what clock changes do to each. A time that does not fire has a note.",
    example: { ...nightly, query: { count: "3" } },
  },
  explainTime: {
    tag: "schedules",
    description: "What became of one time and why. `time` is an instant, a local date and time, or a time of today.",
    example: { ...nightly, query: { time: "2026-11-21T02:30" } },
  },
  previewExpression: {
    tag: "schedules",
    description: "Five-field cron, `cron(...)`, `rate(...)` or a duration.",
    example: { query: { expression: "30 2 * * *", timezone: "America/New_York", count: "3" } },
  },
  getHealth: {
    tag: "system",
    description:
      "Versions and counts by state. A count stops at a bound; `isMore` then says that there are more. Probes use `/livez` and `/readyz`.",
    example: {},
  },
  getLive: {
    tag: "system",
    description: "Answers as long as the process does. Asks nothing of the database.",
    example: {},
  },
  getReady: { tag: "system", description: "Answers 200 when the database answers, else 503.", example: {} },
  getMetrics: { tag: "system", description: "In the text format of Prometheus.", example: {} },
} as const satisfies Readonly<Record<string, Operation>>;

export type OperationName = keyof typeof operations;

export const operationOf = (name: OperationName): Operation => operations[name];
