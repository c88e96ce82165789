import type { AttemptRef } from "../../src/machine/job.ts";
import { type Fence } from "../../src/machine/fence.ts";
import { type Settled, type Settlement, type Store } from "../../src/machine/store.ts";
import { type Message, noAftermath } from "../../src/machine/outbox.ts";
import { type StoreTx, type Tx } from "../../src/machine/transaction.ts";
import type { WorkerFact } from "../invariants/evidence.ts";
import type { SimProcess } from "./process.ts";
import type { Record } from "./record.ts";
import type { Wire } from "./wire.ts";

/** Which self-healing is switched off, so that what it would hide can be seen. */
export type Layer = "requeue" | "reopen" | "rescue" | "wake";

export interface StoreLine {
  readonly base: Store;
  readonly wire: Wire;
  readonly record: Record;
  readonly without: ReadonlySet<Layer>;
}

/** The store as one process reaches it: over the wire, with what it was answered written down. */
export function storeFor(process: SimProcess, line: StoreLine): Store {
  const { base, without } = line;
  const call = <T>(name: string, serve: () => Promise<T>): Promise<T> =>
    line.wire.call(process, `store.${name}`, serve);
  const fenced = <T>(name: string, fence: Fence | undefined, serve: () => Promise<T>): Promise<T> =>
    call(name, async () => {
      const result = await serve();
      if (fence !== undefined && hasWritten(result)) line.record.fenced.push({ ...fence, by: process.name });
      return result;
    });
  const overWire = Object.entries(base).map(([name, method]: [string, unknown]) =>
    typeof method !== "function" || besideWire.has(name) ? [name, method] : [name, forwarded(name, method as Method)],
  );
  function forwarded(name: string, method: Method): Method {
    return (...args) => {
      const fence = args.flatMap((arg) => (arg as { fence?: Fence } | undefined)?.fence ?? [])[0];
      const serve = () => method(...args.map((arg) => withReal(process, line, arg)));
      return fenced(name, fence, serve);
    };
  }
  return {
    ...(Object.fromEntries(overWire) as Store),
    reopen: (o) => fenced("reopen", o.fence, async () => (without.has("reopen") ? [] : await base.reopen(o))),
    requeueLost: (o) =>
      fenced("requeueLost", o.fence, async () => (without.has("requeue") ? 0 : await base.requeueLost(o))),
    wake: (o) => fenced("wake", o.fence, async () => (isOff(without, o) ? [] : await base.wake(o))),
    rescue: (o) =>
      fenced("rescue", o.fence, async () =>
        without.has("rescue") ? noRows : await base.rescue(withHook(process, line, o)),
      ),
    claim: (messages, o) => call("claim", () => claim(line, messages, o)),
    heartbeat: (held, worker) => call("heartbeat", () => heartbeat(line, held, worker)),
    settle: (settlements, o) => call("settle", () => settle(process, line, settlements, o)),
    transaction: (work) => call("transaction", () => transaction(process, line, work)),
    judgeCircuits: (rules) =>
      call("judgeCircuits", async () => {
        const opened = await base.judgeCircuits(rules);
        const at = await base.now();
        if (opened.length > 0) line.record.moves.push({ at, move: "opened" });
        return opened;
      }),
    probeCircuits: (rules) =>
      call("probeCircuits", async () => {
        const moves = await base.probeCircuits(rules);
        const at = await base.now();
        line.record.moves.push(...moves.map(({ move }) => ({ at, move })));
        return moves;
      }),
    freeSlots: (held) => call("freeSlots", () => freeSlots(line, held)),
  };
}

type Method = (...args: unknown[]) => Promise<unknown>;

/** What no process of the simulation waits for, and what people do to lanes. */
const besideWire: ReadonlySet<string> = new Set([
  "extendLease",
  "takeOver",
  "passed",
  "installBlackouts",
  "pauseLane",
  "closed",
  "holdClosed",
  "unholdPaused",
  "unholdOpen",
  "runNow",
]);

/** An argument with the real transaction, and the hook with a transaction of this process. */
function withReal(process: SimProcess, line: StoreLine, arg: unknown): unknown {
  if (typeof arg !== "object" || arg === null || Array.isArray(arg)) return arg;
  return withHook(process, line, withRealTx(arg));
}

const noRows = { rows: [], aftermath: noAftermath };

/** The net that looks at all slots; the call that freed one still wakes the next. */
const isOff = (without: ReadonlySet<Layer>, o: { slotKeys: readonly string[] | "all" }): boolean =>
  without.has("wake") && o.slotKeys === "all";

async function claim(
  line: StoreLine,
  messages: readonly Message[],
  options: { worker: string; alone: boolean },
): ReturnType<Store["claim"]> {
  // A batch may hold an old message of a job beside its new one.
  const asked = Map.groupBy(messages, ({ jobId }) => jobId);
  const { claimed, aftermath } = await line.base.claim(messages, options);
  const at = await line.base.now();
  const running = claimed.filter((row) => row.state === "RUNNING");
  for (const row of running) {
    const { jobId, attempt, leaseMs, generation, dueAt } = row;
    line.record.leases.set(`${jobId}/${attempt}`, leaseMs);
    const held = { worker: options.worker, jobId, attempt, at, leaseMs };
    const generations = asked.get(jobId)?.map((message) => message.generation) ?? [];
    line.record.workers.push({
      is: "claimed",
      ...held,
      askedGeneration: generations.includes(generation) ? generation : (generations[0] ?? -1),
      generation,
      dueAt,
      batch: running.length,
    });
  }
  return { claimed, aftermath };
}

async function heartbeat(
  line: StoreLine,
  held: Parameters<Store["heartbeat"]>[0],
  worker: string,
): ReturnType<Store["heartbeat"]> {
  const kept = await line.base.heartbeat(held, worker);
  const at = await line.base.now();
  for (const { jobId, attempt } of held) {
    if (!kept.some((each) => each.jobId === jobId && each.attempt === attempt)) continue;
    const leaseMs = line.record.leases.get(`${jobId}/${attempt}`) ?? 0;
    line.record.workers.push({ is: "kept", worker, jobId, attempt, at, leaseMs });
  }
  return kept;
}

async function freeSlots(line: StoreLine, held: readonly AttemptRef[]): ReturnType<Store["freeSlots"]> {
  const at = await line.base.now();
  line.record.gone.push(...held.map(({ jobId, attempt }) => ({ jobId, attempt, at })));
  return await line.base.freeSlots(held);
}

/** In a transaction the answer counts only once it committed: it is kept with the transaction until then. */
async function settle(
  process: SimProcess,
  line: StoreLine,
  settlements: readonly Settlement[],
  options: Parameters<Store["settle"]>[1],
): Promise<Settled> {
  const answer = await line.base.settle(settlements, withHook(process, line, withRealTx(options)));
  const facts = settlements.map((one): WorkerFact => {
    const { jobId, attempt, to, delayMs } = one;
    return {
      is: "settled",
      worker: options.worker,
      jobId,
      attempt,
      to,
      delayMs,
      written: answer.settled.includes(jobId),
    };
  });
  const open = options.tx === undefined ? undefined : transactions.get(options.tx);
  (open?.facts ?? line.record.workers).push(...facts);
  return answer;
}

/** The real transaction behind the one a process holds, and what it learns once it commits. */
const transactions = new WeakMap<Tx, { readonly real: StoreTx; readonly facts: WorkerFact[] }>();

function withRealTx<O extends { readonly tx?: Tx | undefined }>(options: O): O {
  const open = options.tx === undefined ? undefined : transactions.get(options.tx);
  return open === undefined ? options : { ...options, tx: open.real };
}

function withHook<O extends { inSameTransaction?: (tx: StoreTx, rows: never) => Promise<void> }>(
  process: SimProcess,
  line: StoreLine,
  options: O,
): O {
  const hook = options.inSameTransaction;
  if (hook === undefined) return options;
  return { ...options, inSameTransaction: (tx: StoreTx, rows: never) => hook(txFor(process, line, tx, []), rows) };
}

/** Commits when the work is done and the commit has reached the server; a process that dies before leaves nothing. */
async function transaction<T>(process: SimProcess, line: StoreLine, work: (tx: StoreTx) => Promise<T>): Promise<T> {
  const facts: WorkerFact[] = [];
  const value = await line.base.transaction(async (real) => {
    facts.length = 0;
    const done = await work(txFor(process, line, real, facts));
    await line.wire.leg();
    return done;
  });
  line.record.workers.push(...facts);
  return value;
}

function txFor(process: SimProcess, line: StoreLine, real: StoreTx, facts: WorkerFact[]): StoreTx {
  const tx: StoreTx = {
    query: (text, values) => line.wire.call(process, "tx.query", () => real.query(text, values)),
    nested: (work) => real.nested(work),
    get brokenBy() {
      return real.brokenBy;
    },
  };
  transactions.set(tx, { real, facts });
  return tx;
}

function hasWritten(result: unknown): boolean {
  if (typeof result === "number") return result > 0;
  if (Array.isArray(result)) return result.length > 0;
  if (typeof result !== "object" || result === null) return false;
  return Object.values(result).some((value) => (Array.isArray(value) ? value.length > 0 : Number(value) > 0));
}
