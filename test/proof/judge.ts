import { isAllowed, isFinal } from "../../src/core/state.ts";
import type { LedgerRecord } from "./ledger.ts";
import type { Ended, Settling } from "./process-log.ts";
import type { Checklist } from "./proof.ts";
import type { EventRow, Tables } from "./tables.ts";

export interface Evidence {
  readonly tables: Tables;
  readonly ledger: readonly LedgerRecord[];
  /** What the workers were answered. */
  readonly settlings: readonly Settling[];
  /** Workers that were killed: what they were answered last may be missing from their histories. */
  readonly killed: ReadonlySet<number>;
  /** Jobs whose effect may have happened more than once, because a worker died with it unsettled. */
  readonly ambiguous?: ReadonlySet<string>;
}

/** The invariants that hold after every case, from the final tables, the workers' histories and the ledger. */
export function judge(list: Checklist, evidence: Evidence): void {
  const { tables } = evidence;
  list.expect("there are jobs to judge", tables.jobs.length > 0);
  list.expectNone(
    "every job is final or held (C2)",
    tables.jobs
      .filter((job) => !isFinal(job.state) && job.hold === "none")
      .map((job) => `${job.kind} ${job.id} ${job.state}`),
  );
  list.expectNone("every job's events are a chain of legal moves (C3)", brokenChains(tables));
  list.expectNone("at most one completion a job and attempt, none by a stale one (C4)", doubleCompletions(evidence));
  list.expectNone("an effect has one key and repeats only in its named window (C5)", wrongEffects(evidence));
  list.expectNone(
    "no hand-off is left open (C6)",
    tables.handoffs.map((handoff) => `hand-off ${handoff.id} of ${handoff.ids.length}`),
  );
  list.expectNone("slots are held only by running jobs (C12)", leakedSlots(tables));
}

function brokenChains({ jobs, events }: Tables): readonly string[] {
  const byJob = Map.groupBy(events, (event) => event.jobId);
  return jobs.flatMap((job) => {
    const chain = byJob.get(job.id) ?? [];
    let state: EventRow["from"] = null;
    for (const event of chain) {
      if (event.from !== state) return [`job ${job.id}: ${event.from} -> ${event.to} follows ${state}`];
      if (!isAllowed(event.from, event.to)) return [`job ${job.id}: ${event.from} -> ${event.to}`];
      state = event.to;
    }
    return state === job.state ? [] : [`job ${job.id} is ${job.state}, its last event says ${state}`];
  });
}

function doubleCompletions({ tables, settlings, killed }: Evidence): readonly string[] {
  const ends = tables.events.filter((event) => event.from === "RUNNING");
  const wrong: string[] = [];
  for (const [key, same] of Map.groupBy(ends, (event) => `${event.jobId}/${event.attempt}`)) {
    if (same.length > 1) wrong.push(`job and attempt ${key} ended ${same.length} times`);
  }
  const byTry = new Map(ends.map((event) => [`${event.jobId}/${event.attempt}`, event]));
  const pidOf = (event: EventRow): number => workerPid(event.worker);
  for (const { pid, job, attempt, state, answer } of settlings) {
    const event = byTry.get(`${job}/${attempt}`);
    const writtenByIt = event !== undefined && pidOf(event) === pid && !rescues.has(event.reason ?? "");
    if (answer === "written" && !(writtenByIt && event.to === state)) {
      wrong.push(
        `worker ${pid} was told that ${state} of job ${job} attempt ${attempt} was written; the events say ${event?.to}`,
      );
    }
    if (answer === "refused" && writtenByIt)
      wrong.push(`worker ${pid} was refused job ${job} attempt ${attempt}, yet it is written`);
  }
  const told = new Set(
    settlings.filter(({ answer }) => answer === "written").map(({ job, attempt }) => `${job}/${attempt}`),
  );
  for (const [key, event] of byTry) {
    if (event.to === "SUCCESS" && !told.has(key) && !killed.has(pidOf(event)))
      wrong.push(`nobody was told of the success of ${key}`);
  }
  return wrong;
}

/** Reasons of events that somebody else wrote about a worker. */
const rescues = new Set(["worker-lost", "lease", "canceled"]);

function wrongEffects({ ledger, ambiguous }: Evidence): readonly string[] {
  const effects = ledger.filter((record) => record.what === "effect");
  return [...Map.groupBy(effects, (record) => record.job)].flatMap(([job, records]) => {
    const keys = new Set(records.map((record) => record.key));
    if (keys.size > 1) return [`job ${job} sent ${keys.size} different keys`];
    if (records.length > 1 && ambiguous?.has(job) !== true)
      return [`the effect of job ${job} happened ${records.length} times`];
    return [];
  });
}

function leakedSlots({ slots, jobs }: Tables): readonly string[] {
  const running = new Set(jobs.filter((job) => job.state === "RUNNING").map((job) => job.id));
  return slots
    .filter((slot) => slot.jobId !== null && slot.n > 0 && !running.has(slot.jobId))
    .map((slot) => `slot ${slot.key}/${slot.n} is held by job ${slot.jobId}`);
}

/** Workers that ended by a signal nobody can handle. */
export const killedPids = (ends: readonly Ended[]): ReadonlySet<number> =>
  new Set(ends.filter((end) => end.signal === "SIGKILL").map((end) => end.pid));

/** Jobs that one of these processes had claimed and not settled: only theirs may have an effect that nobody wrote down. */
export function ambiguousJobs({ attempts }: Tables, killed: ReadonlySet<number>): ReadonlySet<string> {
  return new Set(
    attempts
      .filter((attempt) => attempt.outcome !== "SUCCESS" && killed.has(workerPid(attempt.worker)))
      .map((attempt) => attempt.jobId),
  );
}

/** The worker's name ends with `:pid:chance`. */
export const workerPid = (worker: string | null): number => Number(worker?.split(":").at(-2) ?? -1);
