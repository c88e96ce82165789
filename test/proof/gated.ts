import { writeFileSync } from "node:fs";
import type { Checklist, ProofContext } from "./proof.ts";
import { startInstalled, type System, type SystemOptions } from "./system.ts";
import { until } from "./until.ts";

/** A system whose handlers end when they are let: each may be tried once. */
export const beginGated = (
  context: Pick<ProofContext, "folder" | "postgresUrl">,
  more: Pick<SystemOptions, "sql" | "endBeside">,
): Promise<System> => startInstalled(context, { app: "gated", proxied: ["dynamodb"], ...more });

export interface Batch {
  readonly ids: readonly string[];
  /** Lets the handlers end. */
  open(): void;
  begun(): number;
  effects(): number;
}

export async function gated(system: System, gate: string, count: number, due: { delay?: string } = {}): Promise<Batch> {
  const items = Array.from({ length: count }, () => ({ payload: { gate }, ...due }));
  const ids = (await system.enqueue("gated", items)).map(({ id }) => String(id));
  const known = new Set(ids);
  const lines = (wanted: string): number =>
    system.ledger.read().filter(({ what, job }) => what === wanted && known.has(job)).length;
  const open = (): void => writeFileSync(gate, "");
  return { ids, open, begun: () => lines("start"), effects: () => lines("effect") };
}

/** The handlers of the batch all run, and wait. A row is RUNNING already when the answer to its claim is under way. */
export async function running(system: System, gate: string, count: number): Promise<Batch> {
  const batch = await gated(system, gate, count);
  await until(`${count} handlers to run`, 240_000, async () => {
    const claimed = await system.count("belfry.job where id = any($1) and state = 'RUNNING'", [batch.ids]);
    return claimed === count && batch.begun() === count;
  });
  return batch;
}

export async function openToEnd(batch: Batch): Promise<void> {
  batch.open();
  await until("all handlers to end", 60_000, () => batch.effects() >= batch.ids.length);
}

/** Each job of the batch ended well, in its one attempt. */
export async function assessOnce(list: Checklist, system: System, batch: Batch, what: string): Promise<void> {
  const ended = "belfry.job where id = any($1) and state in ('SUCCESS', 'FAILED')";
  await until("all jobs to end", 120_000, async () => {
    return (await system.count(ended, [batch.ids]).catch(() => 0)) === batch.ids.length;
  });
  const rows = await system.rows<{
    id: string;
    state: string;
    attempt: number;
    failures: number;
    interruptions: number;
  }>("select id, state, attempt, failures, interruptions from belfry.job where id = any($1) order by id", [batch.ids]);
  const named = (all: typeof rows): string[] =>
    all.map(({ id, state, attempt }) => `${id} ${state}, attempt ${attempt}`);
  list.expectNone(`${what}: 0 FAILED`, named(rows.filter(({ state }) => state !== "SUCCESS")));
  list.expectNone(`${what}: 0 attempts charged`, named(rows.filter((row) => row.failures + row.interruptions > 0)));
  list.expectNone(`${what}: 0 taken again`, named(rows.filter(({ attempt }) => attempt !== 1)));
  list.expectIs(`${what}: each handler ended once`, batch.effects(), batch.ids.length);
}
