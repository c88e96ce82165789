/**
 * The most work that one request of each write may be, by the limits, and how long it took on two cores beside other work;
 * single rows, a page of a lane or run, and 1,000 or 2,000 jobs are estimated from larger ones.
 * What may take more than two seconds answers 202 with something to follow, but for a rerun: one transaction. `long-work.test.ts` holds the list to the document.
 */
export const mostWork = {
  createJob: { most: "1 job of 256 KB; waits at most 100 ms for a batch with others", tookMs: 30, answers: [201] },
  cancelJob: {
    most: "a task with 9,999 tasks behind it: the job at once, these later",
    tookMs: 1_234,
    answers: [200, 202],
  },
  retryJob: { most: "1,000 skipped jobs of its run; above that a bulk action", tookMs: 300, answers: [200, 202] },
  runJobNow: { most: "1 job", tookMs: 30, answers: [200] },
  retryRun: { most: "1,000 jobs; above that a bulk action (50,000 FAILED: 193 ms)", tookMs: 300, answers: [200, 202] },
  cancelRun: { most: "a page of 1,000 jobs", tookMs: 500, answers: [200, 202] },
  signalRun: { most: "1 row and 1 job", tookMs: 30, answers: [200] },
  rerunRun: { most: "50,000 tasks in one transaction; 10,000 take 578 ms", tookMs: 3_055, answers: [201] },
  pauseLane: { most: "1 row: workers look at it before each claim", tookMs: 20, answers: [200] },
  resumeLane: { most: "a page of 1,000 jobs", tookMs: 500, answers: [200, 202] },
  setCap: { most: "10,000 places become free: a page of what waits for them starts", tookMs: 231, answers: [200] },
  createBulk: { most: "counts for 100 ms, then a bulk action", tookMs: 140, answers: [200, 202] },
  redriveDeadLetters: { most: "counts for 100 ms, then a bulk action", tookMs: 109, answers: [200, 202] },
  stopBulk: { most: "1 row", tookMs: 20, answers: [200] },
  createSchedule: { most: "1 row", tookMs: 40, answers: [201] },
  replaceSchedule: { most: "1 row and what was written ahead of its times", tookMs: 58, answers: [200] },
  patchSchedule: { most: "1 row and what was written ahead of its times", tookMs: 58, answers: [200] },
  deleteSchedule: {
    most: "cancels 2,000 waiting jobs (10,000: 4,393 ms); with more it is refused",
    tookMs: 900,
    answers: [200],
  },
  pauseSchedule: { most: "1 row: its jobs are decided at the claim", tookMs: 42, answers: [200] },
  resumeSchedule: { most: "1 row", tookMs: 28, answers: [200] },
  triggerSchedule: { most: "1 job", tookMs: 40, answers: [201] },
  backfillSchedule: { most: "judges 10,000 times, then a bulk action", tookMs: 629, answers: [200, 202] },
} as const satisfies Readonly<
  Record<string, { readonly most: string; readonly tookMs: number; readonly answers: readonly number[] }>
>;
