import { z } from "zod";
import { batchRuleOf } from "../../define/batch.ts";
import { lockGate } from "../../admission/lock.ts";
import { explainJob } from "../../insight/explain-job.ts";
import { insightLimits } from "../../insight/insight-limits.ts";
import { readSlot } from "../../insight/slots.ts";
import { readWaiting } from "../../insight/waiting.ts";
import { maybeIso } from "../../machine/units.ts";
import { endPause } from "../../insight/circuits.ts";
import { cancelJobs, retryJobs } from "../../insight/cancel-and-retry.ts";
import type { JobId } from "../../machine/job.ts";
import { type BeginBulk, bulkBeginner } from "../bulk-runner.ts";
import { endsSoon } from "../in-time.ts";
import type { Answer } from "../json-answer.ts";
import { bulk } from "../shape/bulk.ts";
import { runLimits } from "../../machine/run-limits.ts";
import { readRun } from "../../insight/runs.ts";
import { attemptDetail, jobsById, readAttempt, readRecords } from "../../insight/job.ts";
import { afterCommit } from "../../run/after-commit.ts";
import { isFinal, type State } from "../../machine/state.ts";
import { endpoint } from "../endpoint.ts";
import type { ApiOptions } from "../options.ts";
import { HttpProblem, unknownJob } from "../problem.ts";
import { id } from "../query-fields.ts";
import { type Bounds, ofJob } from "../scope.ts";
import { jobDetail, type JobDetailReply, jobExplanation, type JobExplanationReply } from "../shape/job.ts";

const jobPath = z.object({ id });
const attemptPath = z.strictObject({
  id,
  attempt: z
    .string()
    .regex(/^[1-9]\d{0,8}$/, "must be a number like 2")
    .transform(Number)
    .meta({ description: "Counted from 1.", as: { type: "integer", minimum: 1, maximum: 999_999_999 } }),
});

const ofOne = (options: ApiOptions) =>
  ({ scope: ofJob(options), params: jobPath, refuses: ["unknown-job"], example: { params: { id: "42" } } }) as const;

/** One job: how it stands, its attempts, why it waits, and what steers it. */
export function jobEndpoints(options: ApiOptions) {
  return [
    endpoint("GET /jobs/:id", {
      ...ofOne(options),
      name: "getJob",
      summary: "One job with its attempts and events",
      query: z.strictObject({ include: z.literal("explanation").optional().describe("Also why it does not run.") }),
      replies: { 200: jobDetail },
      async reply({ params: { id: jobId }, query, within }) {
        const found = await readJobDetail(options, jobId);
        const isExplained = query.include !== undefined && !isFinal(found.state) && found.state !== "RUNNING";
        const explanation = isExplained ? await explanationOf(options, jobId, within) : null;
        return { ...found, ...(explanation === null ? {} : { explanation }) };
      },
    }),
    ...changes(options),
    endpoint("GET /jobs/:id/attempts/:attempt", {
      name: "getAttempt",
      refuses: ["unknown-job", "unknown-attempt"],
      summary: "One attempt with its stack, causes, response and last log lines",
      description:
        "Of an attempt that failed: the stack, the causes, the response of the service it called, and the last lines it logged, each cut. Of the newest one also when it was due and when its message was sent.",
      example: { params: { id: "42", attempt: "1" } },
      scope: ofJob(options),
      params: attemptPath,
      replies: { 200: attemptDetail },
      async reply({ params }) {
        const [found] = await options.insight.run(readAttempt, params);
        if (found === undefined) {
          // A job of others is answered as one that does not exist, so both are the same here too.
          const jobs = await options.insight.run(readRecords, { ids: [params.id], whole: false });
          if (jobs.length === 0) throw unknownJob(params.id);
          const rule = "it has not started, was rescued, or its history is past its retention";
          throw new HttpProblem("unknown-attempt", `job ${params.id} has no attempt ${params.attempt}: ${rule}`);
        }
        return found;
      },
    }),
    endpoint("GET /jobs/:id/explain", {
      ...ofOne(options),
      name: "explainJob",
      summary: "Why a job is not running, and when it will",
      description: "One sentence with the cause, what to do about it, when it goes on, and which jobs must end before.",
      replies: { 200: jobExplanation },
      async reply({ params: { id }, within }) {
        const explanation = await explanationOf(options, id, within);
        if (explanation === null) throw unknownJob(id);
        return explanation;
      },
    }),
  ];
}

function changes(options: ApiOptions) {
  const change = ofOne(options);
  const { begin } = bulkBeginner(options);
  return [
    endpoint("POST /jobs/:id/cancel", {
      ...change,
      name: "cancelJob",
      refuses: ["unknown-job", "already-finished"],
      summary: "Cancel a job that has not finished",
      description:
        "A running handler is aborted at its next heartbeat. Canceling a canceled job changes nothing and is no error. The job is canceled when this answers, with a 202 when thousands of its run are skipped because of it: these follow.",
      replies: { 200: jobDetail, 202: jobDetail },
      handle: ({ params, caller }) => cancel(options, params.id, caller.name),
    }),
    endpoint("POST /jobs/:id/retry", {
      ...change,
      name: "retryJob",
      refuses: ["unknown-job", "not-retryable"],
      summary: "Run a FAILED, CANCELED or SKIPPED job again",
      description:
        "Same id, key and history; due now. A job of a run takes along what was skipped because of it; when that may be more than 1,000 jobs, it answers 202 with the bulk action that does it.",
      replies: { 200: jobDetail, 202: bulk },
      handle: ({ params, caller }) => retry(options, begin, params.id, caller.name),
    }),
    endpoint("POST /jobs/:id/run-now", {
      ...change,
      name: "runJobNow",
      refuses: ["unknown-job", "not-waiting"],
      summary: "Do not wait for the due time",
      description:
        "Makes a waiting job due now. A job that is due already stays as it is. Of a job that a circuit holds it ends the circuit's pause: one held job, the earliest due, is let through as the probe.",
      replies: { 200: jobDetail },
      reply: ({ params, caller }) => runNow(options, params.id, caller.name),
    }),
  ];
}

/** @throws HttpProblem 404 */
export async function readJobDetail({ insight }: ApiOptions, jobId: JobId): Promise<JobDetailReply> {
  const found = (await jobsById(insight, [jobId], { whole: true })).get(jobId);
  if (found === undefined) throw unknownJob(jobId);
  return found;
}

/** Why a job is not running, and when it will. Null when it does not exist, or no longer. */
async function explanationOf(
  { ports, insight, registry }: Pick<ApiOptions, "ports" | "insight" | "registry">,
  id: JobId,
  within: Bounds,
): Promise<JobExplanationReply | null> {
  const job = await ports.store.job(id);
  const [facts] = job === null ? [] : await insight.run(readWaiting, { id, most: insightLimits.placeCountedMax });
  if (job === null || facts === undefined) return null;
  const key = job.heldOn ?? job.slotKeys.find((each) => each.startsWith(`${lockGate.prefix}:`)) ?? null;
  const [slot = null] = key === null ? [] : await insight.run(readSlot, { key, before: facts.heldBefore.count });
  const batchWaitMs = batchRuleOf(registry.jobs.get(job.kind))?.waitMs ?? 0;
  const { until, pieces, ...answer } = explainJob(job, facts, { now: facts.now, slot, batchWaitMs });
  // A job of another scope may hold a lock that both have.
  const ids = answer.waitsFor;
  const holders = within.isWhole ? [] : await insight.run(readRecords, { ids, whole: false });
  const kinds = new Map<string, string>(holders.map((holder) => [holder.id, holder.kind]));
  const waitsFor = ids.filter((each) => within.hasKind(kinds.get(each) ?? ""));
  return { job: id, ...answer, pieces: [...pieces], waitsFor, until: maybeIso(until) };
}

/** Canceling a canceled job changes nothing and is no error. What thousands of its run do about it is not waited for. */
async function cancel(options: ApiOptions, jobId: JobId, caller: string): Promise<Answer> {
  const before = await readJobDetail(options, jobId);
  if (before.state === "CANCELED") return { status: 200, body: before };
  const { ports, registry } = options;
  const work = cancelJobs(ports, registry, [jobId], { caller });
  if (!(await endsSoon(ports.log, "what follows a cancel", work))) {
    const soon = await readJobDetail(options, jobId);
    if (soon.state === "CANCELED" && soon.run !== null)
      return { status: 202, body: soon, location: `/runs/${soon.run}` };
    await work;
  }
  const after = await readJobDetail(options, jobId);
  if (after.state === "CANCELED" || !isFinal(after.state)) return { status: 200, body: after };
  const detail = `job ${jobId} is ${after.state}: only a job that has not finished can be canceled`;
  throw new HttpProblem("already-finished", detail);
}

const retryable: readonly State[] = ["FAILED", "CANCELED", "SKIPPED"];

/** When thousands of its run may have been skipped because of it, a bulk action puts them back. */
async function retry(options: ApiOptions, begin: BeginBulk, jobId: JobId, caller: string): Promise<Answer> {
  const before = await readJobDetail(options, jobId);
  const [run] = before.run === null ? [] : await options.insight.run(readRun, before.run);
  if (retryable.includes(before.state) && (run?.progress.skipped ?? 0) > runLimits.retriedRowsMax) {
    const search = { id: jobId, states: retryable };
    const matched = { count: 1, isMore: false };
    return await begin({ action: "retry", search, caller, matched, paceMs: 0, steps: [] });
  }
  const retried = await retryJobs(options.ports, [jobId], { caller });
  if (retried.includes(jobId)) return { status: 200, body: await readJobDetail(options, jobId) };
  const detail = `job ${jobId} is ${before.state}: only a FAILED, CANCELED or SKIPPED job can be retried`;
  throw new HttpProblem("not-retryable", detail);
}

/** What is due already is on its way: that changes nothing and is no error. */
async function runNow(options: ApiOptions, jobId: JobId, caller: string): Promise<JobDetailReply> {
  const before = await readJobDetail(options, jobId);
  const { ports } = options;
  const { ids, aftermath } = await ports.store.runNow([jobId], { caller });
  await afterCommit(ports, aftermath);
  if (ids.length === 0) await options.insight.run(endPause, jobId);
  if (ids.length === 0 && (isFinal(before.state) || before.state === "RUNNING")) {
    throw new HttpProblem("not-waiting", `job ${jobId} is ${before.state}: only a job that waits can be run now`);
  }
  return await readJobDetail(options, jobId);
}
