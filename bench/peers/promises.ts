/** What each keeps and promises, beside what it costs. From the documents and sources of the versions in package.json. */
export interface Promised {
  readonly about: string;
  readonly belfry: string;
  readonly graphileWorker: string;
  readonly pgBoss: string;
}

export const promises: readonly Promised[] = [
  {
    about: "a job that is done",
    belfry: "row kept 30 days by default",
    graphileWorker: "deleted at once",
    pgBoss: "row kept 7 days by default",
  },
  {
    about: "its moves",
    belfry: "an event for each, with worker and attempt; 90 days",
    graphileWorker: "attempts so far and the last error, while the row is there",
    pgBoss: "times of creation, start and end, retries and output in the row",
  },
  {
    about: "its worker dies",
    belfry: "claimed again when the lease ends: 20 s by default",
    graphileWorker: "locked for 4 hours (Pro: by heartbeat)",
    pgBoss: "after expireInSeconds, 15 minutes by default; by heartbeat if asked, at least 10 s",
  },
  {
    about: "a late outcome of a worker that lost the job",
    belfry: "refused by attempt and worker",
    graphileWorker: "deletes the job by its id",
    pgBoss: "refused by its count of retries",
  },
  {
    about: "a key",
    belfry: "one job of a kind while its row is kept; another payload is an error",
    graphileWorker: "job_key replaces a waiting job; free again when it is done",
    pgBoss: "singletonKey by the queue's policy or a time slot",
  },
  {
    about: "a cap on what runs at once",
    belfry: "exact in all processes",
    graphileWorker: "a named queue runs one at a time",
    pgBoss: "a group's limit, which a race may exceed; one at a time by a queue's policy",
  },
  {
    about: "enqueue in the caller's transaction",
    belfry: "yes",
    graphileWorker: "yes, by the SQL function",
    pgBoss: "yes, by the db option",
  },
  {
    about: "the handler's writes and its outcome in one transaction",
    belfry: "yes, ctx.tx",
    graphileWorker: "no",
    pgBoss: "yes, transactional workers",
  },
  {
    about: "a time that a schedule missed",
    belfry: "a row for each time says what was decided; four policies",
    graphileWorker: "fill: jobs for what was missed within a span",
    pgBoss: "skipped, or one job for the last",
  },
];
