import { mergeAftermaths } from "../../../src/machine/outbox.ts";
import { type Store } from "../../../src/machine/store.ts";
import type { ReferenceStore } from "../../support/reference-store.ts";
import type { World } from "../world.ts";
import { inStore, place, type Mutant } from "./mutant.ts";

/** Bugs in who may run what. */
export const claimMutants: readonly Mutant[] = [
  {
    name: "old-generation-accepted",
    bug: "a claim takes any message of the job, whatever its generation",
    planted: inStore((base) => ({
      claim: (messages, options) => {
        const newest = messages.map((message) => {
          const generation = base.tables.jobs.get(Number(message.jobId))?.generation ?? message.generation;
          return { ...message, generation };
        });
        return base.claim(newest, options);
      },
    })),
  },
  {
    name: "claim-before-due",
    bug: "a claim does not look at the due time",
    planted: inStore((base, world) => ({ claim: claimEarly(base, world) })),
  },
  {
    name: "cap-by-counting",
    bug: "a claim counts what runs and takes the rest, instead of taking slots",
    planted: inStore((base, world) => ({ claim: claimByCounting(base, world) })),
  },
  {
    name: "rescue-without-lease",
    bug: "rescue takes every RUNNING row, also one whose lease holds",
    planted: inStore((base) => ({
      rescue: (options) => {
        place(base, (t) => {
          for (const lease of t.leases.values()) t.leases.set(lease.id, { ...lease, until: t.now() - 1 });
        });
        return base.rescue({ ...options, leases: undefined });
      },
    })),
  },
  {
    name: "batch-charged",
    bug: "every claim counts as alone, so that a batch that died charges all its members",
    planted: inStore((base) => ({
      claim: (messages, options) => base.claim(messages, { ...options, alone: true }),
    })),
  },
  {
    name: "cancel-frees-slots",
    bug: "cancel frees the slots of a running job at once, while its handler still runs",
    planted: inStore((base) => ({ cancel: cancelAndFree(base) })),
  },
];

function cancelAndFree(base: ReferenceStore): Store["cancel"] {
  return async (ids, hook) => {
    const moved = await base.cancel(ids, hook);
    const freed = await base.freeSlots(moved.rows);
    return { ...moved, aftermath: mergeAftermaths([moved.aftermath, freed]) };
  };
}

/** The event keeps the true due time, so the claim is shown as it was: too early. */
function claimEarly(base: ReferenceStore, world: World): Store["claim"] {
  return async (messages, options) => {
    const due = new Map<string, number>();
    place(base, (t) => {
      for (const { jobId } of messages) {
        const row = t.jobs.get(Number(jobId));
        if (row?.state !== "QUEUED" || row.dueAt <= world.now()) continue;
        due.set(jobId, row.dueAt);
        t.change(row, { dueAt: world.now() });
      }
    });
    const { claimed, aftermath } = await base.claim(messages, options);
    return { claimed: claimed.map((row) => ({ ...row, dueAt: due.get(row.jobId) ?? row.dueAt })), aftermath };
  };
}

const running = (base: ReferenceStore, kind: string): number =>
  base.tables.inStates("RUNNING").filter((row) => row.kind === kind).length;

/** Counts, and claims a moment later, as on a busy database: two workers that count together see the same room. */
function claimByCounting(base: ReferenceStore, world: World): Store["claim"] {
  return async (messages, options) => {
    const room = 2 - running(base, "capped");
    const busyMs = world.random.between(0, 300);
    await new Promise<void>((resolve) => world.time.after(busyMs, resolve));
    const size = Math.max(1, running(base, "capped") + room);
    await base.installSlots([{ key: "cap:capped", size, onRefusal: "hold", reason: "slot" }]);
    return await base.claim(messages, options);
  };
}
