import type { TestClock } from "../postgres/test-clock.ts";
import { type AppDefinition, type Registry, registry as registryOf } from "../define/definition.ts";
import { createLapsedLeases } from "../run/rescue.ts";
import { decodeMessage } from "../run/message.ts";
import { deliveryLimits } from "../machine/delivery-limits.ts";
import { findJobs } from "../insight/find-jobs.ts";
import { insightLimits } from "../insight/insight-limits.ts";
import { readRecords } from "../insight/job.ts";
import { readLanes } from "../insight/lanes.ts";
import { readOccurrencesBetween } from "../insight/occurrences.ts";
import type { Database } from "../insight/sql-query.ts";
import type { Clock, Ports } from "../machine/ports.ts";
import { pass } from "../schedule/pass.ts";
import { iso } from "../machine/units.ts";
import { createLaneGate } from "../run/claim.ts";
import { createWorker, type Worker } from "../run/worker.ts";
import { faultyRegistry, type Faults } from "./faults.ts";
import type { MemoryQueue, ReceivedMessage } from "./memory-queue.ts";
import type { Instant, JobId, JobView } from "../machine/job.ts";
import type { ScheduleRow } from "../machine/schedule.ts";

export interface DriverOptions {
  readonly ports: Ports;
  readonly insight: Database;
  readonly queue: MemoryQueue;
  readonly apps: readonly AppDefinition[];
  readonly stage: string;
  readonly faults: Faults;
  readonly clock: TestClock;
  /** Since the start, for the queue; moved together with the clock. */
  readonly elapsed: { ms: number };
  readonly batchesMax: number;
}

/** Plays the scheduler and the workers, one step after another. */
export interface Driver {
  readonly registry: Registry;
  drain(): Promise<readonly Ran[]>;
  advance(toMs: number): Promise<readonly Ran[]>;
  stop(): Promise<void>;
}

/** As large as it may be where handlers open few connections: one claim and one look for all of them. */
const batchSize = 50;

export function newDriver(options: DriverOptions): Driver {
  const { ports, insight, queue, apps, stage, faults, clock, elapsed, batchesMax } = options;
  const lives = new Map<string, { life: WorkerLife; worker: Worker }>();
  const registry = registryOf(apps);
  // A planted fault is for an attempt: the scheduler checks payloads too.
  const faulty = faultyRegistry(registry, faults);
  const lanes = [...new Set(["default", ...[...registry.jobs.values()].map(({ lane }) => lane)])];
  const signal = new AbortController().signal;
  const lapsed = createLapsedLeases();

  const workerOf = (lane: string): { life: WorkerLife; worker: Worker } => {
    const known = lives.get(lane);
    if (known !== undefined) return known;
    const life = newLife(ports, (point) => !faults.isFatal(point));
    // Looks each time: the clock moves between two looks as far as a test says.
    const gate = createLaneGate({ ...life.ports, lane, lookMs: 0 });
    // The clock stands while a handler runs: what it waits for comes with the next step of the test.
    const worker = createWorker(life.ports, faulty, { stage, worker: `test-${lane}`, lane, gate, limitWaitMsMax: 0 });
    lives.set(lane, { life, worker });
    return { life, worker };
  };

  const ended = new Set<string>();
  /** Null when the lane has no message. */
  const work = async (lane: string): Promise<readonly Ran[] | null> => {
    const records = queue.receive(lane, batchSize);
    if (records.length === 0) return null;
    const { life, worker } = workerOf(lane);
    const handled = worker.handle(records, { remainingMs: () => 600_000 });
    const answer = await Promise.race([handled, life.ended]);
    // A dead worker deletes no messages; the next one starts where it was.
    if (answer === undefined) lives.delete(lane);
    else answered(queue, lane, records, answer.failed);
    return await ranOf(insight, records, ended);
  };

  /** @param ran what has ended in this call, to which it adds. */
  const drain = async (ran: Ran[] = [], bound = { batches: 0 }): Promise<readonly Ran[]> => {
    for (;;) {
      const before = bound.batches;
      await ports.store.unholdOpen(insightLimits.unholdRowsMax);
      await pass(ports, registry, { signal, lapsed });
      for (const lane of lanes) {
        for (let batch = await work(lane); batch !== null; batch = await work(lane)) {
          ran.push(...batch);
          if (++bound.batches > batchesMax) throw new Error(busy(ran, batchesMax, await ports.store.now()));
        }
      }
      if (bound.batches === before) return ran;
    }
  };

  return {
    registry,
    drain: () => drain(),
    async advance(toMs) {
      const ran: Ran[] = [];
      const bound = { batches: 0 };
      await drain(ran, bound);
      for (let now = await ports.store.now(); now < toMs; now = await ports.store.now()) {
        const next = Math.min(toMs, Math.max(now + 1, await nextTime(options, lanes, now)));
        elapsed.ms += next - now;
        await clock.advance(next - now);
        await drain(ran, bound);
      }
      return ran;
    },
    stop: async () => void (await Promise.all([...lives.values()].map(({ worker }) => worker.stop(0)))),
  };
}

/** Work that makes new work for ever would keep a test for ever. */
function busy(ran: readonly Ran[], batchesMax: number, now: Instant): string {
  const counts = new Map<string, number>();
  for (const { kind } of ran) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const [most = ["no kind", 0], ...others] = [...counts].toSorted(([, a], [, b]) => b - a);
  const whose = `${most[1]} attempts of "${most[0]}"${others.length === 0 ? "" : ` and ${ran.length - most[1]} of others`}`;
  return `work did not end within ${batchesMax} batches, and it is ${iso(now)}: ${whose} have ended. Does a job enqueue itself? \
Else take shorter steps, or a higher \`batchesMax\` of createTestSystem`;
}

function answered(
  queue: DriverOptions["queue"],
  lane: string,
  records: readonly ReceivedMessage[],
  failed: readonly string[],
): void {
  queue.delete(
    lane,
    records.map(({ messageId }) => messageId).filter((id) => !failed.includes(id)),
  );
  queue.giveBack(lane, failed, 1_000);
}

/** When something is due: a schedule, the wait of a chain, a job, the end of a blackout, a lease that runs out, or a message that was given back. */
async function nextTime(
  { ports, insight, queue, elapsed }: DriverOptions,
  lanes: readonly string[],
  now: number,
): Promise<number> {
  const schedules = await ports.store.schedules();
  const looks = schedules.flatMap(({ nextAt }) => (nextAt !== null && nextAt > now ? [nextAt] : []));
  const overdue = await Promise.all(schedules.map((row) => overdueAt(insight, row, now)));
  const waiting = await findJobs(insight, {
    search: { states: ["PENDING", "RETRY_WAIT", "QUEUED"], dueFrom: now + 1 },
    sort: "due",
    cursor: null,
    limit: 1,
  });
  const running = await findJobs(insight, {
    search: { states: ["RUNNING"] },
    sort: "oldest",
    cursor: null,
    limit: 100,
  });
  const blackouts = await insight.run(readLanes, {});
  const messages = lanes.map((lane) => queue.nextVisibleAt(lane)).filter((at) => at !== null && at > elapsed.ms);
  return Math.min(
    ...looks,
    ...overdue.flatMap((at) => at ?? []),
    ...waiting.jobs.map(({ dueAt }) => Date.parse(dueAt)),
    ...blackouts.flatMap(({ blackoutUntil }) => (blackoutUntil === null ? [] : [Date.parse(blackoutUntil)])),
    // Rescued when it stood for a while at two looks.
    ...running.jobs.map(
      ({ leaseUntil }) => Math.max(now, Date.parse(leaseUntil ?? "") || now) + deliveryLimits.rescueLookMsMax,
    ),
    ...messages.map((at) => now + (at ?? 0) - elapsed.ms),
  );
}

const unfinished: ReadonlySet<Ran["state"]> = new Set(["PENDING", "QUEUED", "RUNNING"]);

/** When the earliest open time of a chain is not followed any more. */
async function overdueAt(
  insight: Database,
  { spec, decidedUntil }: ScheduleRow,
  until: Instant,
): Promise<Instant | null> {
  const { expression } = spec;
  if (expression.form !== "after") return null;
  const { schedule: id, withinMs } = expression;
  const [open] = await insight.run(readOccurrencesBetween, { id, from: decidedUntil + 1, until, limit: 1 });
  return open === undefined ? null : open.nominalAt + withinMs + 1;
}

/** What ended with these messages. A message that comes twice ends no second attempt: `ended` holds those that were listed. */
async function ranOf(
  insight: Database,
  records: readonly ReceivedMessage[],
  ended: Set<string>,
): Promise<readonly Ran[]> {
  const ids = [...new Set(records.flatMap(({ body }) => decodeMessage(body)?.jobId ?? []))];
  const rows = await insight.run(readRecords, { ids, whole: false });
  const found = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => {
    const row = found.get(id);
    const which = `${id} ${row?.attempt} ${row?.state}`;
    if (row === undefined || unfinished.has(row.state) || ended.has(which)) return [];
    ended.add(which);
    const { kind, state, attempt, error } = row;
    return [{ id, kind, state, attempt, error: error?.message ?? null }];
  });
}

/** One attempt that ended. @beta */
export interface Ran {
  readonly id: JobId;
  readonly kind: string;
  /** Of the job after the attempt: `SUCCESS`, `RETRY_WAIT`, `FAILED`, ... */
  readonly state: JobView["state"];
  readonly attempt: number;
  readonly error: string | null;
}

/** One worker from its start to its end. After `end` its calls are not answered; a transaction of a handler may still commit. */
export interface WorkerLife {
  readonly ports: Ports;
  readonly ended: Promise<void>;
  /** Never resolves: what called it is dead. */
  end(): Promise<never>;
}

/** @param mayPass says at a crash point whether the worker lives on. */
export function newLife(ports: Ports, mayPass: (point: string) => boolean): WorkerLife {
  const over = Promise.withResolvers<void>();
  let isOver = false;
  const asleep = new AbortController();
  const timers = new Set<() => void>();
  const end = (): Promise<never> => {
    isOver = true;
    // A timer that is left keeps the process of a test from ending, until a lease is over.
    asleep.abort();
    for (const cancel of timers) cancel();
    over.resolve();
    return new Promise<never>(() => {});
  };
  const clock: Clock = {
    elapsedMs: () => ports.clock.elapsedMs(),
    sleep: async (ms, signal) => {
      await ports.clock.sleep(ms, signal === undefined ? asleep.signal : AbortSignal.any([signal, asleep.signal]));
      if (isOver) await end();
    },
    // A dead worker renews no lease and interrupts no handler.
    after(ms, run) {
      if (isOver) return () => {};
      const cancel = ports.clock.after(ms, () => {
        timers.delete(cancel);
        run();
      });
      timers.add(cancel);
      return () => {
        timers.delete(cancel);
        cancel();
      };
    },
  };
  const crashPoint = async (point: string): Promise<void> => {
    if (isOver || !mayPass(point)) await end();
  };
  return { ports: { ...ports, clock, crashPoint }, ended: over.promise, end };
}
