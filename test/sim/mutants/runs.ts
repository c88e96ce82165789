import { isFinal } from "../../../src/machine/state.ts";
import type { ReferenceStore } from "../../support/reference-store.ts";
import type { JobRow } from "../../support/reference/rows.ts";
import type { Tables } from "../../support/reference/tables.ts";
import { inStore, place, type Mutant, wrongBefore } from "./mutant.ts";

/** Bugs in when a task of a graph may start and when its run ends. */
export const runMutants: readonly Mutant[] = [
  {
    name: "join-by-first-end",
    bug: "the first predecessor that ends releases a join, because it looks at states and counts nothing",
    planted: inStore((base) => ({
      settle: async (settlements, options) => {
        const answer = await base.settle(settlements, options);
        place(base, (t) => {
          for (const id of answer.settled) for (const row of waitingAfter(t, Number(id))) free(t, row);
        });
        return answer;
      },
    })),
  },
  {
    name: "skip-not-counted",
    bug: "a skipped branch is not counted at what comes after it",
    planted: wrongBefore("resolve", ({ runDone, jobs }) => {
      for (const [id] of runDone.entries()) {
        const row = jobs.get(id);
        if (row?.state === "SKIPPED") jobs.set(id, { ...row, spread: true });
      }
    }),
  },
  {
    name: "failed-counts-as-ok",
    bug: "a join counts every end as a success",
    planted: inStore((base) => ({
      settle: (settlements, options) => countingAll(base, () => base.settle(settlements, options)),
      resolve: (options) => countingAll(base, () => base.resolve(options)),
    })),
  },
  {
    name: "slot-freed-with-starter",
    bug: "the slot of a schedule is free when the job that started the run ends, not when the run closes",
    planted: wrongBefore("resolve", ({ slots }) => {
      for (const [key, slot] of slots.entries())
        if (slot.jobId !== null && slot.attempt === null) slots.set(key, { ...slot, jobId: null });
    }),
  },
  {
    name: "failure-not-followed",
    bug: "a run that asks for a job behind any end has none behind a failure",
    planted: inStore((base) => ({
      resolve: async (options) => {
        follow(base, "success");
        const resolved = await base.resolve(options);
        follow(base, "end");
        return resolved;
      },
    })),
  },
  {
    name: "later-signal-replaces",
    bug: "a signal takes the place of the one that a waiting task has",
    planted: inStore((base) => ({
      signal: (id, name, given) => {
        place(base, (t) => {
          const row = t.inRun(Number(id)).find(({ task }) => task === name);
          if (row !== undefined) t.jobs.set(row.id, { ...row, signaledAt: null });
        });
        return base.signal(id, name, given);
      },
    })),
  },
  {
    name: "closed-by-what-runs",
    bug: "a run closes when none of its jobs runs or has a message out, whatever still waits",
    planted: inStore((base) => ({
      resolve: async (options) => {
        const resolved = await base.resolve(options);
        place(base, (t) => {
          for (const run of t.runs.values()) {
            const open = t.inRun(run.id).filter((row) => !isFinal(row.state));
            const isQuiet =
              open.length > 0 && open.every((row) => row.state === "PENDING" || row.state === "RETRY_WAIT");
            if (run.state === "RUNNING" && isQuiet) t.runs.set(run.id, { ...run, state: "DONE", finishedAt: t.now() });
          }
        });
        return resolved;
      },
    })),
  },
];

const waitingAfter = (t: Tables, id: number): JobRow[] =>
  (t.successors.get(id)?.to ?? []).map((to) => t.jobs.row(to)).filter((row) => row.state === "PENDING" && row.blocked);

function free(t: Tables, row: JobRow): void {
  t.jobs.set(row.id, { ...row, blocked: false });
}

function follow(base: ReferenceStore, on: "success" | "end"): void {
  place(base, (t) => {
    for (const run of t.runs.values())
      if (run.continuation !== null) t.runs.set(run.id, { ...run, continuation: { ...run.continuation, on } });
  });
}

/** As long as it counts, a failure is passed over. */
async function countingAll<T>(base: ReferenceStore, count: () => Promise<T>): Promise<T> {
  const runs = [...base.tables.runs.values()];
  place(base, (t) => {
    for (const run of runs) t.runs.set(run.id, { ...run, onFailure: "continue" });
  });
  const answer = await count();
  place(base, (t) => {
    for (const { id, onFailure } of runs) t.runs.set(id, { ...t.runs.row(id), onFailure });
  });
  return answer;
}
