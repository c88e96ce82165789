import { defineJob } from "../../src/core/define/define-job.ts";
import { encodeMessage } from "../../src/core/delivery/message.ts";
import type { JobId } from "../../src/core/job/job.ts";
import { noAftermath, type Claimed, type JobPeek, type Store } from "../../src/core/ports/ports.ts";
import type { LaneGate } from "../../src/core/work/lane-gate.ts";
import { createWorker } from "../../src/core/work/worker.ts";
import { aClaimed } from "./rows.ts";
import { lane, registryFor, world, type World } from "./world.ts";

export const down = (): Promise<never> => Promise.reject(new Error("down"));
export const plenty = (): number => 600_000;

interface Asked {
  readonly ids: readonly string[];
  readonly alone: boolean;
}

export interface Answers {
  /** The ids that a claim takes, by default all; `call` counts from 1. */
  readonly claim?: (asked: Asked, call: number) => readonly string[];
  readonly peek?: (ids: readonly string[], call: number) => readonly JobPeek[];
  readonly store?: Partial<Store>;
  readonly gate?: LaneGate;
  readonly run?: (id: string) => void;
  readonly claimed?: Partial<Claimed>;
  readonly startMs?: number;
  /** The queue takes no message. */
  readonly refuses?: boolean;
}

/** A worker over a store that answers as the test says. Its jobs are of one kind; those in `lost` cannot be settled. */
export async function workerRig({
  claim = ({ ids }) => ids,
  peek = () => [],
  store = {},
  gate,
  run = () => {},
  refuses = false,
  ...more
}: Answers = {}) {
  const claims: Asked[] = [];
  const ran: string[] = [];
  const calls: string[] = [];
  const lost = new Set<string>();
  const sent: { readonly id: string; readonly delayMs: number }[] = [];
  let looks = 0;
  const noting = (name: keyof Store, answer: unknown) => async () => {
    calls.push(name);
    return answer;
  };
  const ports: World = world((base) => {
    const faked: Partial<Store> = {
      async claim(messages, { alone }) {
        const asked = { ids: messages.map(({ jobId }) => jobId), alone };
        claims.push(asked);
        const taken = claim(asked, claims.length).map((id) => aClaimed(id, { kind: "job", ...more.claimed }));
        return { claimed: taken, aftermath: noAftermath };
      },
      peek: async (ids) => peek(ids, (looks += 1)),
      async settle(settlements) {
        if (settlements.some(({ jobId }) => lost.has(jobId))) throw new Error("22021");
        return { settled: settlements.map(({ jobId }) => jobId), conflicts: 0, aftermath: noAftermath };
      },
      ...({
        quarantine: noting("quarantine", undefined),
        freeSlots: noting("freeSlots", noAftermath),
        lapsedLeases: noting("lapsedLeases", []),
        reopen: noting("reopen", []),
      } as Partial<Store>),
      ...store,
    };
    const send: World["queue"]["send"] = async (to, messages) => {
      sent.push(...messages.map(({ jobId, delayMs }) => ({ id: jobId, delayMs })));
      return refuses ? { failed: messages.map((_, n) => n) } : base.queue.send(to, messages);
    };
    return { store: Object.assign({}, base.store, faked), queue: Object.assign({}, base.queue, { send }) };
  });
  await ports.clock.advance(more.startMs ?? 0);
  const job = defineJob({
    id: "job",
    run: (_, ctx) => {
      ran.push(ctx.jobId);
      run(ctx.jobId);
    },
  });
  const options = { worker: "worker-1", lane, stage: "test", ...(gate === undefined ? {} : { gate }) };
  const worker = createWorker(ports, registryFor(job), options);
  return {
    ports,
    worker,
    claims,
    ran,
    calls,
    lost,
    sent,
    /** Handles a message for each of these ids; a text that is no number is a body that cannot be read. */
    async handle(ids: readonly string[], { remainingMs = plenty, passMs = 0 } = {}) {
      const records = ids.map((id) => ({
        messageId: `m${id}`,
        body: /^\d/.test(id) ? encodeMessage({ jobId: id as JobId, generation: 1, trace: "t" }) : "{",
      }));
      const handled = worker.handle(records, { remainingMs });
      await ports.clock.advance(passMs);
      return (await handled).failed;
    },
  };
}

/** How long a batch takes by the clock, in steps of a millisecond. */
export async function takes(ports: World, batch: Promise<unknown>): Promise<number> {
  const ended = new Set<string>();
  void batch.then(() => ended.add("batch"));
  const startedMs = ports.clock.elapsedMs();
  await ports.clock.advance(0);
  while (ended.size === 0) await ports.clock.advance(1);
  return ports.clock.elapsedMs() - startedMs;
}
