import { checkInvariants, type Evidence } from "../invariants/check.ts";
import { followedRun, noEvidence, type WorkerFact } from "../invariants/evidence.ts";
import type { State } from "../../src/machine/state.ts";
import type { LedgerRecord } from "./ledger.ts";
import type { History } from "./process-log.ts";
import type { Checklist } from "./proof.ts";
import type { System } from "./system.ts";
import { readTables, type EventRow, type JobRow, type Tables } from "./tables.ts";

/** What a case knows besides the tables, the histories and the ledger. */
export interface Extra extends Partial<Evidence> {
  /** Jobs whose effect may have happened more than once, because a worker died or slept with it unsettled. */
  readonly ambiguous?: ReadonlySet<string>;
  /** Done in a time that the database has lost. */
  readonly isLost?: (done: History | LedgerRecord) => boolean;
}

/** The invariants that hold after every case, judged by the same checker as the simulation. */
export async function judge(list: Checklist, system: System, extra: Extra = {}): Promise<Tables> {
  const tables = await readTables(system.pool);
  const { ambiguous, isLost = () => false, ...more } = extra;
  const ledger = system.ledger.read().filter((record) => !isLost(record));
  const evidence: Evidence = {
    ...noEvidence,
    enqueues: system.asked,
    workers: system.processes.histories.filter((line) => !isLost(line)).flatMap(factOf(tables)),
    effects: ledger
      .filter(({ what }) => what === "effect")
      .map(({ key, job, attempt }) => ({ key, jobId: job, attempt })),
    ...tables,
    jobs: tables.jobs.map((job) => ({
      ...job,
      mark: markOf(job),
      parentId: parentOf(job),
      followsRun: followedRun(job.key),
    })),
    openBatches: tables.outbox,
    deadLetters: await left(system),
    readAt: tables.now,
    endedBefore: tables.now,
    ...more,
  };
  list.expect("there are jobs to judge", tables.jobs.length > 0);
  const violations = checkInvariants(evidence);
  list.expectNone("the invariants hold", violations, ({ invariant, detail }) => `${invariant} ${detail}`);
  list.expectNone("an effect repeats only in its named window", repeats(ledger, ambiguous ?? new Set()));
  list.expectNone(
    "no outbox batch is left open (C6)",
    tables.outbox,
    ({ id, members }) => `${id} of ${members.length}`,
  );
  list.expectNone(
    "every scheduler could start and end",
    system.processes.ends
      .filter(({ name, code }) => name === "scheduler" && code === 1)
      .map(({ pid }) => lastWords(system, pid)),
  );
  list.expectNone("these successes reached no process", unseen(tables, system));
  return tables;
}

/** Each job succeeds; at its first try, where that is asked. */
export function assessSuccess(
  list: Checklist,
  jobs: readonly Pick<JobRow, "id" | "kind" | "state" | "attempt" | "errorCode">[],
  atFirstTry = false,
): void {
  const odd = jobs.filter(({ state, attempt }) => state !== "SUCCESS" || (atFirstTry && attempt !== 1));
  list.expectNone(
    `every job succeeds${atFirstTry ? " at its first try" : ""}`,
    odd,
    ({ id, kind, state, attempt, errorCode }) => `${kind} ${id} ${state}, try ${attempt}, ${errorCode}`,
  );
}

const lastWords = (system: System, pid: number): string =>
  system.processes.plainLines(pid).find((line) => line.includes("Error")) ?? `process ${pid} ended with 1`;

/** A label that the payload carries: every proof numbers what it enqueues of a kind. */
export const markOf = ({
  kind,
  payload,
  scheduleId,
  key,
}: Pick<JobRow, "kind" | "payload" | "scheduleId" | "key">): string | null =>
  scheduleId !== null || parentOf({ key }) !== null || followedRun(key) !== null
    ? null
    : `${kind}/${numberIn(payload)}`;

const numberIn = (payload: unknown): string =>
  typeof payload === "object" && payload !== null && "n" in payload ? String(payload.n) : "";

/** Children carry the job and the try that enqueued them in their key. */
const parentOf = ({ key }: Pick<JobRow, "key">): string | null => /^child:(\d+):\d+$/.exec(key ?? "")?.[1] ?? null;

/** A claim's own time is that of its event: the worker does not know the database's clock. */
function factOf(tables: Tables): (line: History) => readonly WorkerFact[] {
  const claims = new Map(
    tables.events.filter((event) => event.to === "RUNNING").map((event) => [`${event.jobId}/${event.attempt}`, event]),
  );
  const leases = new Map<string, number>();
  return (line) => {
    if (line.history === "fence") return [];
    const { worker, job: jobId, attempt } = line;
    if (line.history === "settled") {
      return [{ is: "settled", worker, jobId, attempt, to: line.to as State, written: line.written }];
    }
    if (line.history === "kept") {
      const leaseMs = leases.get(`${jobId}/${attempt}`) ?? 0;
      return [{ is: "kept", worker, jobId, attempt, at: line.at - clockSlackMs, leaseMs }];
    }
    const { leaseMs, asked, generation, dueAt, batch } = line;
    leases.set(`${jobId}/${attempt}`, leaseMs);
    const at = claims.get(`${jobId}/${attempt}`)?.at ?? 0;
    return [{ is: "claimed", worker, jobId, attempt, at, leaseMs, askedGeneration: asked, generation, dueAt, batch }];
  };
}

/** Two readings of one machine's clock by different programs may differ by rounding. */
const clockSlackMs = 2;

function repeats(ledger: readonly LedgerRecord[], ambiguous: ReadonlySet<string>): readonly string[] {
  const effects = ledger.filter((record) => record.what === "effect");
  return [...Map.groupBy(effects, (record) => record.key)].flatMap(([key, records]) =>
    records.length > 1 && !ambiguous.has(records[0]?.job ?? "") ? [`${key} happened ${records.length} times`] : [],
  );
}

/** A success that no living worker remembers would have been written by a process that did not know it. */
function unseen(tables: Tables, { processes }: System): readonly string[] {
  const killed = processes.killed();
  const reported = new Set(
    processes.histories.flatMap((line) =>
      line.history === "settled" && line.written ? [`${line.job}/${line.attempt}`] : [],
    ),
  );
  const isUntold = (event: EventRow): boolean =>
    event.to === "SUCCESS" && !reported.has(`${event.jobId}/${event.attempt}`) && !killed.has(workerPid(event.worker));
  return tables.events.filter(isUntold).map((event) => `${event.jobId}/${event.attempt} by ${event.worker}`);
}

/** Messages that no drain took from a dead-letter queue. */
async function left(system: System): Promise<Evidence["deadLetters"]> {
  const depths = await Promise.all(system.queues.map(({ deadLetterUrl }) => system.depth(deadLetterUrl)));
  return depths.flatMap(({ visible, inFlight }, index) =>
    Array.from({ length: visible + inFlight }, (_, n) => ({
      jobId: `(${system.queues[index]?.lane.name} ${n + 1})`,
      generation: 0,
      troubledReceives: 0,
      receives: 0,
      drained: false,
    })),
  );
}

/** Jobs that one of these processes had claimed and not settled: only theirs may have an effect that no row shows. */
export function ambiguousJobs({ attempts }: Tables, killed: ReadonlySet<number>): ReadonlySet<string> {
  const lost = attempts.filter(({ outcome, worker }) => outcome !== "SUCCESS" && killed.has(workerPid(worker)));
  return new Set(lost.map(({ jobId }) => jobId));
}

/** The worker's name ends with `:pid:chance`. */
export const workerPid = (worker: string | null): number => Number(worker?.split(":").at(-2) ?? -1);
