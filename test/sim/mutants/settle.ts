import type { JobId } from "../../../src/machine/job.ts";
import { mergeAftermaths } from "../../../src/machine/outbox.ts";
import { type Settled, type Store } from "../../../src/machine/store.ts";
import type { ReferenceStore } from "../../support/reference-store.ts";
import { inStore, place, type Mutant } from "./mutant.ts";

/** Bugs in who may finish what. */
export const settleMutants: readonly Mutant[] = [
  {
    name: "settle-without-attempt",
    bug: "a settle is conditioned on the job, not on the attempt",
    planted: inStore((base) => ({
      settle: (settlements, options) => {
        const newest = settlements.map((one) => {
          return { ...one, attempt: base.tables.jobs.get(Number(one.jobId))?.attempt ?? one.attempt };
        });
        return base.settle(newest, options);
      },
    })),
  },
  {
    name: "release-without-new-generation",
    bug: "a released job keeps its generation, so that the old message may claim it",
    planted: inStore((base) => ({ settle: releaseUnchanged(base) })),
  },
  {
    name: "children-of-a-fenced-try",
    bug: "children are inserted before the settle, whether or not the row is still ours",
    planted: inStore((base) => ({ settle: childrenFirst(base) })),
  },
  {
    name: "transaction-without-check",
    bug: "a transaction commits although its settle wrote no row",
    planted: inStore((base) => ({
      settle: async (settlements, options) => {
        const answer = await base.settle(settlements, options);
        return options.tx === undefined ? answer : { ...answer, settled: settlements.map((one) => one.jobId) };
      },
    })),
  },
];

function releaseUnchanged(base: ReferenceStore): Store["settle"] {
  return async (settlements, options) => {
    const answer = await base.settle(settlements, options);
    const released = new Set(settlements.filter((one) => one.to === "QUEUED").map((one) => one.jobId));
    place(base, (t) => {
      for (const id of answer.settled.filter((settled) => released.has(settled))) {
        const row = t.jobs.row(Number(id));
        t.jobs.set(row.id, { ...row, generation: row.generation - 1 });
        const at = t.events.rows.findLastIndex((event) => event.jobId === row.id);
        const event = t.events.rows[at];
        if (event !== undefined) t.events.rows[at] = { ...event, generation: event.generation - 1 };
      }
    });
    return withOldGenerations(answer, released);
  };
}

function withOldGenerations(answer: Settled, released: ReadonlySet<JobId>): Settled {
  const outbox = answer.aftermath.outbox.map((batch) => ({
    ...batch,
    messages: batch.messages.map((message) => {
      return released.has(message.jobId) ? { ...message, generation: message.generation - 1 } : message;
    }),
  }));
  return { ...answer, aftermath: { ...answer.aftermath, outbox } };
}

function childrenFirst(base: ReferenceStore): Store["settle"] {
  return async (settlements, options) => {
    if (options.tx !== undefined) return await base.settle(settlements, options);
    const children = settlements.flatMap((one) => one.children);
    const inserted = await base.insert(children);
    const answer = await base.settle(
      settlements.map((one) => ({ ...one, children: [] })),
      options,
    );
    return { ...answer, aftermath: mergeAftermaths([inserted.aftermath, answer.aftermath]) };
  };
}
