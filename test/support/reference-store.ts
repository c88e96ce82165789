/**
 * The `Store` in memory: the oracle that Postgres is compared with, and the store of the simulation.
 * Each verb is a pure function of the tables, in a file of its own under `reference/`.
 */
import { contractLimits } from "../../src/machine/contract-limits.ts";
import { noAftermath } from "../../src/machine/outbox.ts";
import type { CallerTx, InSameTransaction, Moved, MovedRows, Tx } from "../../src/machine/transaction.ts";
import { type Settled } from "../../src/machine/store.ts";
import { takeOver, claim, heartbeat, extendLease, look } from "./reference/claim.ts";
import { decidePrematerialized } from "./reference/prematerialized.ts";
import { cancel, prune } from "./reference/control.ts";
import { replaced } from "./reference/replaced.ts";
import {
  confirm,
  keep,
  countNotYetDue,
  saveQueueObservations,
  relay,
  reopen,
  requeueLost,
  queueObservations,
} from "./reference/outbox.ts";
import { wake } from "./reference/wake.ts";
import { insert } from "./reference/insert.ts";
import { acquire, renew, installFence, release } from "./reference/locks.ts";
import { history, job, jobs, occurrences } from "./reference/read.ts";
import { endLeases, keepLeases, lapsedLeases, noteCause, rescue, undelivered } from "./reference/rescue.ts";
import { resolve } from "./reference/resolve.ts";
import { resumeRun } from "./reference/resume.ts";
import {
  addPage,
  cancelingRuns,
  cancelRun,
  inRuns,
  openJobs,
  runLook,
  runLooks,
  sealRun,
  skip,
  startRun,
  taskLooks,
  whyCanceled,
} from "./reference/runs.ts";
import {
  countForCircuits,
  holdForCircuits,
  judgeCircuits,
  openCircuits,
  probeCircuits,
  spaceRetries,
  releaseForCircuits,
} from "./reference/circuits.ts";
import { runOutputs, runResult } from "./reference/each.ts";
import { signal } from "./reference/signal.ts";
import {
  holdClosed,
  installBlackouts,
  closedNames,
  pauseLane,
  retry,
  runNow,
  unhold,
  unholdOpen,
} from "./reference/lanes.ts";
import { scheduleControl } from "./reference/schedule-control.ts";
import { cancelRemoved, dueSchedules, endRemovals, installSchedules, plan, schedules } from "./reference/schedules.ts";
import { chains } from "./reference/chains.ts";
import { settle } from "./reference/settle.ts";
import { freeLeft, installSlots, takeUnit } from "./reference/slots.ts";
import { gather, startFull } from "./reference/batch.ts";
import { installTurns, takeTurns } from "./reference/turns.ts";
import { movedOf, Tables } from "./reference/tables.ts";
import type { TestStore } from "./looks.ts";
import { atomically, ReferenceTx, SerializationFailure } from "./reference/transaction.ts";

export interface ReferenceStore extends TestStore {
  /** For checkers and tests that place or read rows directly. */
  readonly tables: Tables;
}

/** Tries of a statement whose hook let others in between. Each try starts from the rows as they are then. */
const hookTriesMax = 20;

/** An empty store whose every "now" is `now()`, in milliseconds since 1970. */
export function referenceStore(
  now: () => number,
  { dispatchWindowMs = contractLimits.dispatchWindowMs }: { readonly dispatchWindowMs?: number } = {},
): ReferenceStore {
  const t = new Tables(now, dispatchWindowMs);
  const run = <T>(statement: () => T, tx?: CallerTx): T =>
    tx instanceof ReferenceTx ? tx.perform(statement) : atomically(t, statement);
  const moving = async (statement: () => MovedRows, hook: InSameTransaction | undefined): Promise<MovedRows> =>
    hook === undefined ? run(statement) : await withHook(t, statement, (result) => result.rows, hook);
  return {
    tables: t,
    dispatchWindowMs,
    now: async () => now(),
    insert: async (newJobs, { tx, fence } = {}) => run(() => fenced(t, fence, () => insert(t, newJobs)), tx),
    installSlots: async (groups, options) => run(() => installSlots(t, groups, options)),
    relay: async (options) => run(() => fenced(t, options.fence, () => relay(t, options))),
    confirm: async (sent) => run(() => confirm(t, sent)),
    keep: async (batches) => run(() => keep(t, batches)),
    reopen: async (options) => run(() => fenced(t, options.fence, () => reopen(t, options))),
    queueObservations: async ({ maxAgeMs }) => run(() => queueObservations(t, maxAgeMs)),
    saveQueueObservations: async (seen) => run(() => saveQueueObservations(t, seen)),
    countNotYetDue: async (options) => run(() => countNotYetDue(t, options)),
    requeueLost: async (options) => run(() => fenced(t, options.fence, () => requeueLost(t, options))),
    wake: async (options) => run(() => fenced(t, options.fence, () => wake(t, options))),
    claim: async (messages, options) => run(() => claim(t, messages, options)),
    peek: async (ids) => run(() => look(t, ids)),
    heartbeat: async (held, worker) => run(() => heartbeat(t, held, worker)),
    extendLease: async (held, options) => run(() => extendLease(t, held, options)),
    takeOver: async (held, options) => run(() => takeOver(t, held, options)),
    settle: async (settlements, options) => await settleWithHook(t, () => settle(t, settlements, options), options),
    transaction: async (work) => {
      const tx = new ReferenceTx(t);
      const result = await work(tx);
      tx.commit();
      return result;
    },
    takeUnit: async (key, { withinMs }) => run(() => takeUnit(t, key, withinMs)),
    freeSlots: async (held) => run(() => ({ ...noAftermath, freed: freeLeft(t, held) })),
    returnUndelivered: async (messages, options) =>
      await moving(() => undelivered(t, messages, options), options.inSameTransaction),
    quarantine: async (lane, bodies) =>
      run(() => bodies.forEach((body) => t.quarantine.append({ at: now(), lane, body }))),
    rescue: async (options) =>
      await moving(() => fenced(t, options.fence, () => rescue(t, options)), options.inSameTransaction),
    endLeases: async (worker, cause) => run(() => endLeases(t, worker, cause)),
    keepLeases: async (worker) => run(() => keepLeases(t, worker)),
    noteCause: async (worker, cause) => run(() => noteCause(t, worker, cause)),
    lapsedLeases: async (options) => run(() => lapsedLeases(t, options)),
    cancel: async (ids, { caller, reason = "canceled", inSameTransaction } = {}) =>
      await moving(() => cancel(t, ids, { reason, caller }, reason), inSameTransaction),
    replaced: async (keys, claimed) => run(() => replaced(t, keys, claimed)),
    retry: async (ids, by) => run(() => retry(t, ids, by)),
    installBlackouts: async (lanes) => run(() => installBlackouts(t, lanes)),
    pauseLane: async (lane, pause) => run(() => pauseLane(t, lane, pause)),
    closed: async (lane) => closedNames(t, lane),
    holdClosed: async (messages) => run(() => holdClosed(t, messages)),
    unholdPaused: async (lane, limit) => run(() => unhold(t, [lane], limit)),
    unholdOpen: async (limit) => run(() => unholdOpen(t, limit)),
    openCircuits: async () => openCircuits(t),
    holdForCircuits: async (...asked) => run(() => holdForCircuits(t, asked)),
    countForCircuits: async (counts) => run(() => countForCircuits(t, counts)),
    judgeCircuits: async (rules) => run(() => judgeCircuits(t, rules)),
    spaceRetries: async (budgets) => run(() => spaceRetries(t, budgets)),
    probeCircuits: async (rules) => run(() => probeCircuits(t, rules)),
    installTurns: async (lanes) => run(() => installTurns(t, lanes)),
    gather: async (started) => run(() => gather(t, started)),
    startFull: async (batches) => run(() => startFull(t, batches)),
    takeTurns: async (options) => run(() => fenced(t, options.fence, () => takeTurns(t, options))),
    releaseForCircuits: async () => run(() => releaseForCircuits(t)),
    runNow: async (ids, by) => run(() => runNow(t, ids, by)),
    prune: async ({ limit, fence }) => run(() => fenced(t, fence, () => prune(t, limit))),
    installFence: async (fence) => run(() => installFence(t, fence)),
    passed: async () => {},
    takeFallback: async (name, owner, leaseMs) => run(() => acquire(t, name, owner, leaseMs)),
    renewFallback: async (name, owner, fence, leaseMs) => run(() => renew(t, name, owner, fence, leaseMs)),
    releaseFallback: async (name, owner, fence) => run(() => release(t, name, owner, fence)),
    installSchedules: async (specs, options) => run(() => installSchedules(t, specs, options?.apps)),
    chains: async (options) => run(() => ({ now: now(), chains: chains(t, options) })),
    dueSchedules: async (options) => run(() => ({ now: now(), schedules: dueSchedules(t, options) })),
    plan: async (plans, options) =>
      run(() => fenced(t, options?.fence, () => plan(t, plans, options?.dispatchWindowMs))),
    startRun: async (next, { tx } = {}) => run(() => startRun(t, next), tx),
    addPage: async (id, page, { tx } = {}) => run(() => addPage(t, id, page), tx),
    sealRun: async (id, { tx }) => run(() => sealRun(t, id), tx),
    runResult: async (id, { tx } = {}) => run(() => runResult(t, id), tx),
    runOutputs: async (id, page) => runOutputs(t, id, page),
    inRuns: async (ids) => inRuns(t, ids),
    signal: async (id, name, given) => run(() => signal(t, id, name, given)),
    skip: async (messages, options) => run(() => skip(t, messages, options)),
    resolve: async (options) => run(() => fenced(t, options.fence, () => resolve(t, options))),
    cancelRun: async (id, options) => run(() => cancelRun(t, id, options)),
    cancelingRuns: async (limit, only) => run(() => cancelingRuns(t, limit, only)),
    cancelPage: async (id, { limit, inSameTransaction }) => {
      const page = () => cancel(t, openJobs(t, id, limit), whyCanceled(t, id));
      const { rows, aftermath } = await moving(page, inSameTransaction);
      return { canceled: rows.length, isEmpty: rows.length === 0, aftermath };
    },
    endRemovals: async ({ fence } = {}) => run(() => fenced(t, fence, () => endRemovals(t))),
    cancelRemoved: async ({ limit, fence, inSameTransaction }) =>
      await moving(() => fenced(t, fence, () => cancelRemoved(t, limit)), inSameTransaction),
    decidePrematerialized: async ({ limit, fence }) =>
      run(() => fenced(t, fence, () => decidePrematerialized(t, limit))),
    resumeRun: async (id, options) => run(() => resumeRun(t, id, options)),
    job: async (of) => job(t, of),
    schedules: async (page) => schedules(t, page),
    jobs: async (look) => jobs(t, look),
    history: async (id) => history(t, id),
    run: async (id) => runLook(t, id),
    runs: async (look) => runLooks(t, look),
    tasks: async (id, look) => taskLooks(t, id, look),
    occurrences: async (...of) => occurrences(t, ...of),
    ...scheduleControl(t, run),
  };
}

function fenced<T>(t: Tables, fence: Parameters<Tables["checkFence"]>[0], statement: () => T): T {
  t.checkFence(fence);
  return statement();
}

async function settleWithHook(
  t: Tables,
  statement: () => ReturnType<typeof settle>,
  options: { tx?: Tx; inSameTransaction?: InSameTransaction },
): Promise<Settled> {
  const hook = options.inSameTransaction;
  const moved = (result: ReturnType<typeof settle>): readonly Moved[] => result.rows.map((row) => movedOf(t, row));
  if (options.tx instanceof ReferenceTx) {
    const result = options.tx.perform(statement);
    if (hook !== undefined && result.rows.length > 0) await hook(options.tx, moved(result));
    return answer(result);
  }
  return answer(hook === undefined ? atomically(t, statement) : await withHook(t, statement, moved, hook));
}

const answer = ({ settled, aftermath, conflicts }: ReturnType<typeof settle>): Settled => ({
  settled,
  aftermath,
  conflicts,
});

/** One transaction: the statement, then the hook with the rows it moved. */
async function withHook<T>(
  t: Tables,
  statement: () => T,
  moved: (result: T) => readonly Moved[],
  hook: InSameTransaction,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    const tx = new ReferenceTx(t);
    const result = tx.perform(statement);
    if (moved(result).length > 0) await hook(tx, moved(result));
    try {
      tx.commit();
      return result;
    } catch (error) {
      if (!(error instanceof SerializationFailure) || tries === hookTriesMax) throw error;
    }
  }
}
