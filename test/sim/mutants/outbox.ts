import { deliveryLimits } from "../../../src/machine/delivery-limits.ts";
import type { OutboxBatch } from "../../../src/machine/outbox.ts";
import type { Store } from "../../../src/machine/store.ts";
import type { ReferenceStore } from "../../support/reference-store.ts";
import type { World } from "../world.ts";
import { inStore, place, type Mutant } from "./mutant.ts";

/** Bugs on the way from a committed row to its message and back. */
export const outboxMutants: readonly Mutant[] = [
  {
    name: "mark-before-send",
    bug: "an outbox batch is confirmed by the statement that decided it, before anything was sent",
    without: ["requeue"],
    planted: inStore(confirmAtOnce),
  },
  {
    name: "ignored-failed",
    bug: "the list of messages that SendMessageBatch did not take is not read",
    without: ["requeue"],
    planted: {
      queue: (queue) => ({
        ...queue,
        send: async (lane, messages) => {
          await queue.send(lane, messages);
          return { failed: [] };
        },
      }),
    },
  },
  {
    name: "relay-by-last-id",
    bug: "the relay remembers the last id it took and never looks below it again",
    planted: inStore((base) => ({ relay: relayByLastId(base) })),
  },
  {
    name: "ack-before-commit",
    bug: "messages are acknowledged when they are received",
    without: ["requeue"],
    planted: { ackFirst: true },
  },
  {
    name: "empty-after-error",
    bug: "the worker answers an empty list of failures after an error",
    without: ["requeue"],
    planted: {
      worker: (worker) => ({
        ...worker,
        handle: async (records, options) => {
          await worker.handle(records, options);
          return { failed: [] };
        },
      }),
    },
  },
  {
    name: "message-returned-to-wait",
    bug: "a message that came early is given back instead of being sent again",
    planted: {
      store: (base, world) => {
        stores.set(world, base);
        return base;
      },
      worker: (worker, world) => ({
        ...worker,
        handle: async (records, options) => {
          const early = records.filter(({ body }) => isEarly(world, body));
          const rest = records.filter((record) => !early.includes(record));
          const { failed } = rest.length === 0 ? { failed: [] } : await worker.handle(rest, options);
          return { failed: [...failed, ...early.map(({ messageId }) => messageId)] };
        },
      }),
    },
  },
];

const stores = new WeakMap<World, ReferenceStore>();

function isEarly(world: World, body: string): boolean {
  const { jobId } = JSON.parse(body) as { jobId: string };
  const row = stores.get(world)?.tables.jobs.get(Number(jobId));
  return row?.state === "QUEUED" && row.dueAt > world.now() + deliveryLimits.earlyMessageWaitMsMax;
}

function confirmAtOnce(base: ReferenceStore): Partial<Store> {
  const confirmed = async <T>(result: T, outbox: readonly OutboxBatch[]): Promise<T> => {
    await base.confirm(outbox.map(({ id }) => ({ id, failed: [] })));
    return result;
  };
  return {
    insert: async (jobs, o) => {
      const result = await base.insert(jobs, o);
      return await confirmed(result, result.aftermath.outbox);
    },
    relay: async (o) => {
      const result = await base.relay(o);
      return await confirmed(result, result);
    },
    settle: async (settlements, o) => {
      const result = await base.settle(settlements, o);
      return await confirmed(result, result.aftermath.outbox);
    },
    wake: async (o) => {
      const result = await base.wake(o);
      return await confirmed(result, result);
    },
  };
}

function relayByLastId(base: ReferenceStore): Store["relay"] {
  let last = 0;
  return async (options) => {
    let outbox: readonly OutboxBatch[] = [];
    place(base, (t) => {
      t.checkFence(options.fence);
      const until = t.now() + base.dispatchWindowMs;
      const due = t
        .inStates("PENDING", "RETRY_WAIT")
        .filter((row) => row.hold === "none" && row.dueAt <= until && row.id > last)
        .slice(0, options.limit);
      last = due.at(-1)?.id ?? last;
      outbox = t.dispatch(due.map((row) => t.queue(row)));
    });
    return outbox;
  };
}
