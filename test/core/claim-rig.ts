import { registry as registryOf } from "../../src/core/define/definition.ts";
import type { Arrived } from "../../src/core/delivery/message.ts";
import type { JobId } from "../../src/core/job/job.ts";
import { noAftermath, type Claimed, type JobPeek, type OutMessage, type Store } from "../../src/core/ports/ports.ts";
import { createLeaseKeeper } from "../../src/core/work/lease-keeper.ts";
import { createSettler } from "../../src/core/work/settler.ts";
import type { WorkerScope } from "../../src/core/work/worker-scope.ts";
import { appOf, lane, world, type World } from "./world.ts";

export interface Ask {
  readonly ids: readonly string[];
  readonly alone: boolean;
  readonly asked: readonly string[];
  readonly atMs: number;
}

export interface ClaimRig {
  readonly ports: World;
  readonly scope: WorkerScope;
  readonly stop: AbortController;
  /** Every claim, in order. */
  readonly claims: Ask[];
  /** Every call of the queue. */
  readonly sends: (readonly { readonly id: string; readonly delayMs: number }[])[];
}

interface Answers {
  /** The rows that a claim takes; `call` counts from 1. */
  readonly claim?: (ask: Ask, call: number) => readonly Claimed[];
  /** The rows of a look; `call` counts from 1. */
  readonly peek?: (ids: readonly string[], call: number) => readonly JobPeek[];
  /** Positions that the queue refuses. */
  readonly refused?: (messages: readonly OutMessage[]) => readonly number[];
  readonly store?: Partial<Store>;
}

/** A worker's scope over a store and a queue that answer as the test says. */
export function claimRig({ claim = () => [], peek = () => [], refused = () => [], store = {} }: Answers): ClaimRig {
  const claims: Ask[] = [];
  const sends: { id: string; delayMs: number }[][] = [];
  let looks = 0;
  const ports = world((base) => {
    const faked: Partial<Store> = {
      async claim(messages, { alone, asked = [] }) {
        const ask = { ids: messages.map(({ jobId }) => jobId), alone, asked, atMs: base.clock.elapsedMs() };
        claims.push(ask);
        return { claimed: claim(ask, claims.length), aftermath: noAftermath };
      },
      peek: async (ids) => peek(ids, (looks += 1)),
      inRuns: async () => new Map(),
      ...store,
    };
    const send: World["queue"]["send"] = async (_, messages) => {
      sends.push(messages.map(({ jobId, delayMs }) => ({ id: jobId, delayMs })));
      return { failed: refused(messages) };
    };
    return { store: Object.assign({}, base.store, faked), queue: Object.assign({}, base.queue, { send }) };
  });
  const stop = new AbortController();
  const registry = registryOf([appOf()]);
  const options = { worker: "worker-1", lane, stage: "test" };
  const scope: WorkerScope = {
    ports,
    registry,
    options,
    leases: createLeaseKeeper(ports, "worker-1"),
    settler: createSettler(ports, registry, options),
    launches: { acquire: () => Promise.resolve(true) },
    stopping: stop.signal,
    spend() {},
  };
  return { ports, scope, stop, claims, sends };
}

export const arrived = (id: string): Arrived => ({
  messageId: `m${id}`,
  message: { jobId: id as JobId, generation: 1, trace: "t" },
});

/** A row that waits for its claim, due now. */
export const waitingRow = (id: string, over: Partial<JobPeek> = {}): JobPeek => ({
  jobId: id as JobId,
  state: "QUEUED",
  generation: 1,
  attempt: 0,
  worker: null,
  ageMs: 0,
  dueInMs: 0,
  alone: false,
  ...over,
});
