import type { Context } from "../../src/core/define/context.ts";
import { definitionOf } from "../../src/core/define/define-job.ts";
import type { JobDefinition } from "../../src/core/define/definition.ts";
import type { JobId } from "../../src/core/job/job.ts";
import type { Aftermath, Claimed, Store, Tx } from "../../src/core/ports/ports.ts";
import type { InvocationScope } from "../../src/core/work/invocation-scope.ts";
import { registryFor, world, type World } from "../core/world.ts";

/** Due at this time, the world's own. */
export const dueAt = Date.UTC(2031, 4, 6, 7, 8, 9);

interface Given {
  readonly claimed?: Partial<Claimed>;
  readonly context?: Partial<Context>;
  /** Methods of the store that it meets instead. */
  readonly store: Partial<Store>;
}

interface Attempt {
  readonly definition: JobDefinition;
  readonly scope: InvocationScope;
  readonly context: Context;
  readonly ports: World;
  /** What its own transaction returned, the job's result. */
  readonly results: unknown[];
  readonly left: Aftermath[];
}

/** An attempt of job 7 of this definition, on a store of the test. */
export function attemptOf(job: Parameters<typeof definitionOf>[0], { claimed, context, store }: Given): Attempt {
  const definition = definitionOf(job);
  const ports = world((base) => ({ store: Object.assign({}, base.store, store) }));
  const results: unknown[] = [];
  const left: Aftermath[] = [];
  const row = { jobId: "7" as JobId, kind: definition.id, key: "monday", attempt: 2, payload: null, trace: "t" };
  const scope = {
    worker: { ports, registry: registryFor(), options: { stage: "test", worker: "worker-1" } },
    job: { ...row, scheduleId: null, dueAt, ...claimed },
    definition,
    hold: { signal: new AbortController().signal },
    left,
  } as unknown as InvocationScope;
  const own = {
    scheduledFor: new Date(dueAt),
    lateness: 0,
    isCatchUp: false,
    missedCount: 0,
    signal: new AbortController().signal,
    log: ports.log,
    tx: async (work: (tx: Tx) => Promise<unknown>) => void results.push(await work(ownTx)),
    ...context,
  } as unknown as Context;
  return { definition, scope, context: own, ports, results, left };
}

/** The transaction of the job's own success. */
const ownTx = { query: () => Promise.reject(new Error("no page is read in it")) } as Tx;

/** A table of ids, read in keyset pages with ties as Postgres reads it. `asksMax` ends a loop that would not end. */
export function tableOf(ids: readonly number[], asksMax = 20) {
  const asked: { readonly after: number | null; readonly limit: number }[] = [];
  const query = async (_text: string, values: readonly unknown[] = []) => {
    const [limit, after] = [Number(values[0]), values.length === 1 ? null : Number(values[1])];
    asked.push({ after, limit });
    if (asked.length > asksMax) throw new Error("it asks for pages without an end");
    const behind = ids.filter((id) => after === null || id > after).toSorted((a, b) => a - b);
    const last = behind[limit - 1] ?? Infinity;
    const rows = behind.filter((id) => id <= last).map((id) => ({ id, belfry_cursor: `${id}` }));
    return { rows, rowCount: rows.length };
  };
  return { asked, tx: { query } as Tx };
}

export const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n + 1);
