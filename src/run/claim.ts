import { reasons } from "../machine/reasons.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { deliveryLimits } from "../machine/delivery-limits.ts";
import { evaluateConditions } from "./conditions.ts";
import type { JobId } from "../machine/job.ts";
import type { Claimed, JobPeek, Store } from "../machine/store.ts";
import type { LaneStore } from "../machine/lane-store.ts";
import { orWarn } from "../machine/or-warn.ts";
import type { Clock, Ports } from "../machine/ports.ts";
import { afterCommit } from "./after-commit.ts";
import type { Arrived } from "./message.ts";
import { laneSpan } from "./spans.ts";
import { replaceEarlier } from "./replace.ts";
import type { LaneGate, WorkerScope } from "./worker-scope.ts";

export interface ClaimedBatch {
  readonly running: readonly Claimed[];
  /** Jobs that lost a worker in a batch before: claim them alone, after the others. */
  readonly alone: readonly Arrived[];
  /** Message ids to give back: the result of the claim is unknown. */
  readonly giveBack: readonly string[];
  /** Some of these are given back because the store failed. */
  readonly isStoreAway: boolean;
  /** Due very soon, or only just due: for `claimEarly`. */
  readonly early: readonly Early[];
}

export interface Early {
  readonly item: Arrived;
  /** By this worker's monotonic clock. */
  readonly dueAtMs: number;
}

export function createLaneGate(options: {
  lane: string;
  clock: Clock;
  store: Pick<LaneStore, "closed" | "holdClosed">;
  /** How long an answer counts. Default 1 s: operators do not notice the delay of a pause. */
  lookMs?: number;
}): LaneGate {
  const { lane, clock, store, lookMs = 1_000 } = options;
  let looked: { readonly atMs: number; readonly isOpen: boolean } | null = null;
  return {
    async hold(messages) {
      if (looked === null || clock.elapsedMs() - looked.atMs >= lookMs)
        looked = { atMs: clock.elapsedMs(), isOpen: (await store.closed(lane)).length === 0 };
      return looked.isOpen ? [] : await store.holdClosed(messages);
    },
  };
}

/** @returns the messages of what is open. One is given back only when it is unknown whether its job was held. */
export async function holdIfClosed(
  arrived: readonly Arrived[],
  { gate, lane, log }: { gate?: LaneGate | undefined; lane: string; log: Ports["log"] },
): Promise<{ free: readonly Arrived[]; giveBack: readonly string[] }> {
  try {
    const held = new Set(await gate?.hold(arrived.map(({ message }) => message)));
    return { free: arrived.filter(({ message }) => !held.has(message.jobId)), giveBack: [] };
  } catch (error) {
    log.warn("whether the lane is closed is not known; the messages are given back", { lane, error });
    return { free: [], giveBack: arrived.map(({ messageId }) => messageId) };
  }
}

/**
 * One claim for the batch, then one read of the rows it did not return.
 * A message that is too early is sent again with a delay, not given back.
 */
export async function claimBatch(
  scope: WorkerScope,
  arrived: readonly Arrived[],
  alone: boolean,
  asked: readonly JobId[] = [],
): Promise<ClaimedBatch> {
  if (arrived.length === 0) return emptyClaim;
  const { store, log, tracing } = scope.ports;
  const giveBack = (left: readonly Arrived[], error: unknown): string[] => {
    log.error("claim failed; the messages are given back", { messages: left.length, error });
    return left.map((item) => item.messageId);
  };
  let free: readonly Arrived[];
  let answer: Awaited<ReturnType<Store["claim"]>>;
  try {
    free = scope.circuits === null ? arrived : await scope.circuits.hold(arrived);
    if (free.length === 0) return emptyClaim;
    const messages = free.map(({ message }) => message);
    const { lane, worker } = scope.options;
    answer = await laneSpan(tracing, "claim", { lane, messages: messages.length }, () =>
      store.claim(messages, { worker, alone, asked }),
    );
  } catch (error) {
    return { ...emptyClaim, giveBack: giveBack(arrived, error), isStoreAway: true };
  }
  const rows = answer.claimed;
  const running = rows.filter((row) => row.state === "RUNNING");
  for (const job of running) scope.leases.hold(job);
  // This worker holds these jobs now: it must run them even if a later step fails.
  const taken = new Set(rows.map((row) => row.jobId));
  const left = free.filter((item) => !taken.has(item.message.jobId));
  countRefused(scope, rows);
  await afterCommit(scope.ports, answer.aftermath);
  const replacing = rows.filter((row) => row.replaces);
  const replace = () => replaceEarlier(scope.ports, scope.registry, replacing);
  if (replacing.length > 0)
    await orWarn(log, replace, "what a later time replaces was not canceled; a later pass does it");
  if (left.length === 0) return { ...emptyClaim, running };
  try {
    const looked = await store.peek(left.map((item) => item.message.jobId));
    const { asking, ...sorted } = await sort(scope, left, looked, new Set(asked));
    return merge({ ...sorted, running }, await claimAsked(scope, asking, alone));
  } catch (error) {
    return { ...emptyClaim, running, giveBack: giveBack(left, error), isStoreAway: true };
  }
}

const emptyClaim: ClaimedBatch = { running: [], alone: [], giveBack: [], isStoreAway: false, early: [] };

/** A second claim for the jobs whose condition says yes. A condition is evaluated once in a batch. */
async function claimAsked(scope: WorkerScope, asking: readonly Arrived[], alone: boolean): Promise<ClaimedBatch> {
  const { wanted, giveBack } = await evaluateConditions(scope, asking);
  const ids = wanted.map((item) => item.message.jobId);
  return merge({ ...emptyClaim, giveBack }, await claimBatch(scope, wanted, alone, ids));
}

const merge = (a: ClaimedBatch, b: ClaimedBatch): ClaimedBatch => ({
  running: [...a.running, ...b.running],
  alone: [...a.alone, ...b.alone],
  giveBack: [...a.giveBack, ...b.giveBack],
  isStoreAway: a.isStoreAway || b.isStoreAway,
  early: [...a.early, ...b.early],
});

/**
 * Waits for early jobs and claims each group when it is due; a due job does not wait for the last of its batch. A claim may
 * still be a moment too early for the database's clock, so it is repeated for some rounds. After that the message is sent
 * again, not given back: a message that is given back stays hidden for the queue's visibility timeout.
 */
export async function* claimEarly(
  scope: WorkerScope,
  early: readonly Early[],
  options: { alone: boolean; remainingMs: () => number },
): AsyncGenerator<ClaimedBatch> {
  const { clock } = scope.ports;
  const rounds = new Map<string, number>();
  let left = early;
  while (left.length > 0) {
    const firstMs = Math.min(...left.map((each) => each.dueAtMs));
    const waitMs = Math.min(firstMs - clock.elapsedMs(), options.remainingMs());
    if (waitMs > 0) await clock.sleep(waitMs, scope.stopping);
    // Without time left to wait, all of them are tried once.
    const isOver = scope.stopping.aborted || options.remainingMs() <= 0;
    const untilMs = isOver ? Number.POSITIVE_INFINITY : Math.max(clock.elapsedMs(), firstMs);
    const due = left.filter((each) => each.dueAtMs <= untilMs);
    const items = due.map((each) => each.item);
    for (const { messageId } of items) rounds.set(messageId, (rounds.get(messageId) ?? 0) + 1);
    const batch = await claimBatch(scope, items, options.alone);
    const again = ({ item }: Early): boolean =>
      !isOver && (rounds.get(item.messageId) ?? 0) < deliveryLimits.earlyClaimRoundsMax;
    left = [...left.filter((each) => each.dueAtMs > untilMs), ...batch.early.filter(again)];
    const unsent = await sendLater(
      scope,
      batch.early.filter((each) => !again(each)),
    );
    yield { ...batch, giveBack: [...batch.giveBack, ...unsent], early: [] };
  }
}

/** Delays rows that are due but could not be claimed, for an unknown reason, before the next attempt to claim them. */
function sendLater(scope: WorkerScope, early: readonly Early[]): Promise<string[]> {
  const nowMs = scope.ports.clock.elapsedMs();
  // A debounced job may have been put off while its worker waited for it: that one is only early.
  const stuck = early.filter(({ dueAtMs }) => dueAtMs <= nowMs);
  if (stuck.length > 0) {
    const jobs = stuck.map(({ item }) => item.message.jobId);
    scope.ports.log.warn("due jobs could not be claimed; their messages are sent again", { jobs });
  }
  return sendAgain(
    scope,
    early.map(({ item, dueAtMs }) => ({
      item,
      delayMs: dueAtMs > nowMs ? dueAtMs - nowMs : deliveryLimits.stuckMessageDelayMs,
    })),
  );
}

function countRefused(scope: WorkerScope, rows: readonly Claimed[]): void {
  for (const row of rows.filter((each) => each.state !== "RUNNING")) {
    scope.ports.metrics.add("job.refused", 1, "Count", { job: row.kind });
    if (row.reason === reasons.lockHeld)
      scope.ports.metrics.add("scheduler.lock.failed", 1, "Count", { job: row.kind });
  }
}

async function sort(
  scope: WorkerScope,
  left: readonly Arrived[],
  looked: readonly JobPeek[],
  asked: ReadonlySet<JobId>,
): Promise<Omit<ClaimedBatch, "running"> & { asking: readonly Arrived[] }> {
  const rows = new Map(looked.map((row) => [row.jobId, row]));
  const alone: Arrived[] = [];
  const asking: Arrived[] = [];
  const early: Early[] = [];
  const later: { item: Arrived; delayMs: number }[] = [];
  const nowMs = scope.ports.clock.elapsedMs();
  for (const item of left) {
    const row = rows.get(item.message.jobId);
    if (row === undefined || row.state !== "QUEUED" || row.generation !== item.message.generation) continue;
    if (row.dueInMs > deliveryLimits.earlyMessageWaitMsMax) later.push({ item, delayMs: row.dueInMs });
    else if (row.dueInMs <= 0 && row.hasCondition === true && !asked.has(row.jobId)) asking.push(item);
    else if (row.dueInMs <= 0 && row.alone) alone.push(item);
    else {
      // Also a job that became due since the claim: if given back, its message would stay hidden for minutes.
      early.push({ item, dueAtMs: nowMs + Math.max(0, row.dueInMs) });
    }
  }
  return { alone, asking, early, giveBack: await sendAgain(scope, later), isStoreAway: false };
}

/** The same message again, after its delay. @returns the ids to give back, because the queue did not take them. */
export async function sendAgain(
  scope: WorkerScope,
  items: readonly { item: Arrived; delayMs: number }[],
): Promise<string[]> {
  const giveBack: string[] = [];
  for (let from = 0; from < items.length; from += contractLimits.sendBatchMax) {
    const page = items.slice(from, from + contractLimits.sendBatchMax);
    try {
      const { failed } = await scope.ports.queue.send(
        scope.options.lane,
        page.map(({ item, delayMs }) => ({ ...item.message, delayMs })),
      );
      giveBack.push(...failed.flatMap((index) => page[index]?.item.messageId ?? []));
    } catch (error) {
      scope.ports.log.warn("early messages could not be sent again; they are given back", { error });
      giveBack.push(...page.map(({ item }) => item.messageId));
    }
  }
  return giveBack;
}
