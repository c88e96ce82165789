import type { JobDefinition } from "../define/definition.ts";
import { InvalidPayload, KeyConflict } from "../define/errors.ts";
import type { NewJob } from "../machine/job.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { newJob, hasKeyedSlots, slotKeysFor, slotKeysOf } from "../define/new-job.ts";
import { checkedJson } from "../define/payload.ts";
import { batchedFor } from "../define/batch.ts";
import { debouncedFor } from "../define/debounce.ts";
import { turnFor } from "../define/turn.ts";
import type { InsertResult } from "../machine/store.ts";
import type { Ports } from "../machine/ports.ts";
import type { EnqueueClient, EnqueueItem, Enqueued, EnqueueSettings } from "../machine/client.ts";
import { type Seals, sealValue } from "../machine/seal.ts";
import { mergeAftermaths } from "../machine/outbox.ts";
import { afterCommit } from "./after-commit.ts";
import { enqueueSpan } from "./spans.ts";

/** Writes jobs. `job.enqueue()` of a definition goes through the one that `bindClient` was given. */
export interface Client extends EnqueueClient {
  /**
   * Jobs of one definition, 1,000 a statement, answered in the order of the input.
   * Without `tx` the messages are sent before this resolves. With it they are sent by the caller's `afterCommit()`, or
   * else by the next pass or worker that finds the outbox batch open.
   * One call locks its keys in one order. Callers that share keys in a `tx` among several calls must make these calls in
   * the same order, or Postgres ends one of the transactions (40P01).
   * @throws InvalidPayload before anything is written; KeyConflict after the jobs without a conflict were written;
   * CellMapChanged when `mapVersion` is older than the cell's.
   */
  enqueue(
    definition: JobDefinition,
    items: readonly EnqueueItem[],
    options?: RoutedOptions,
  ): Promise<readonly Enqueued[]>;
  /**
   * Prepared jobs of any definitions in one statement, answered in the order of the input. A key that exists with another
   * payload is a conflict in its own answer; the other jobs are written. At most `contractLimits.insertRowsMax`.
   * Resolves after the commit. `sent` resolves when the messages were sent, and never rejects.
   */
  insert(
    items: readonly { readonly definition: JobDefinition; readonly job: NewJob }[],
    options?: { readonly lockWaitMs?: number | undefined },
  ): Promise<{
    readonly results: readonly InsertResult[];
    readonly sent: Promise<void>;
  }>;
}

/** `mapVersion`: of the cell map that routed the jobs here. */
type RoutedOptions = EnqueueSettings & { readonly mapVersion?: number | undefined };

type ClientPorts = Pick<
  Ports,
  "store" | "queue" | "clock" | "random" | "log" | "metrics" | "crashPoint" | "tracing" | "seals"
>;

export function createClient(ports: ClientPorts): Client {
  const installed = new Set<string>();
  const write = async (
    definition: JobDefinition,
    items: readonly EnqueueItem[],
    { mapVersion, ...options }: RoutedOptions,
  ): Promise<readonly Enqueued[]> => {
    if (options.cell !== undefined && mapVersion === undefined)
      throw new RangeError(noCells(definition.id, options.cell));
    const trace = options.trace ?? ports.tracing?.parent() ?? ports.random.id();
    const jobs = await prepare(definition, { trace, seals: ports.seals }, items);
    await installSlotsOnce(ports, definition, installed);
    if (options.tx !== undefined) {
      // In one call: the store locks all keys in one order, so two callers cannot deadlock.
      const { results, aftermath } = await ports.store.insert(jobs, { tx: options.tx, mapVersion });
      refuseConflicts(jobs, results);
      const open = [aftermath];
      const send = (): Promise<void> => afterCommit(ports, mergeAftermaths(open.splice(0)));
      return results.map(({ id, created }) => ({ id, created, afterCommit: send }));
    }
    const answers: InsertResult[] = [];
    for (let from = 0; from < jobs.length; from += contractLimits.insertRowsMax) {
      const some = jobs.slice(from, from + contractLimits.insertRowsMax);
      const inserted = await ports.store.insert(some, mapVersion === undefined ? {} : { mapVersion });
      await afterCommit(ports, inserted.aftermath);
      answers.push(...inserted.results);
    }
    refuseConflicts(jobs, answers);
    return answers.map(({ id, created }) => ({ id, created }));
  };
  return {
    enqueue: (definition, items, options = {}) =>
      enqueueSpan(ports.tracing, definition.id, items.length, () => write(definition, items, options)),
    async insert(items, options = {}) {
      for (const { definition } of items) await installSlotsOnce(ports, definition, installed);
      const jobs = items.map(({ job }) => job);
      const { results, aftermath } = await ports.store.insert(jobs, options);
      return { results, sent: afterCommit(ports, aftermath) };
    },
  };
}

const noCells = (kind: string, cell: string): string =>
  `cell of "${kind}" is "${cell}"; this process is connected to one stage: leave it out, or connect({ cells })`;

/** Validates everything before the first write, so that a bad item leaves nothing half-written. */
export async function prepare(
  definition: JobDefinition,
  { trace, seals }: { readonly trace: string; readonly seals: Seals | undefined },
  items: readonly EnqueueItem[],
): Promise<readonly NewJob[]> {
  const jobs: NewJob[] = [];
  const { seal, turns, debounce, body } = definition;
  const same = hasKeyedSlots(definition) ? null : slotKeysOf(definition);
  for (const item of items) {
    const payload = checkedJson(definition.id, item.payload);
    const checking = definition.check(payload);
    const checked = checking instanceof Promise ? await checking : checking;
    if (!checked.ok) throw new InvalidPayload(definition.id, checked.issues);
    jobs.push(
      newJob(definition, {
        payload: seal === null ? payload : await sealValue(seals, seal, payload, contractLimits.payloadBytesMax),
        key: item.key ?? definition.key?.(checked.value) ?? null,
        dueAt: dueAtOf(definition.id, item.dueAt),
        delayMs: delayOf(definition.id, item.delayMs),
        trace,
        slotKeys: same ?? slotKeysFor(definition, checked.value),
        turn: turns === null ? undefined : turnFor(definition, turns, checked.value),
        debounce: debounce === null ? undefined : debouncedFor(definition.id, debounce, checked.value, item),
        batch: body.is === "batch" ? batchedFor(definition.id, body.rule, checked.value) : undefined,
      }),
    );
  }
  return jobs;
}

function dueAtOf(kind: string, dueAt: Date | undefined): number | null {
  if (dueAt === undefined) return null;
  const at = dueAt.getTime();
  if (Number.isNaN(at)) throw new RangeError(`dueAt of "${kind}" is not a valid Date`);
  if (at < 0 || at > contractLimits.dueAtMsMax) {
    throw new RangeError(`dueAt of "${kind}" is ${dueAt.toISOString()}; it must lie between the years 1970 and 9999`);
  }
  return at;
}

function delayOf(kind: string, delayMs: number | undefined): number {
  if (delayMs === undefined) return 0;
  if (!(delayMs >= 0 && delayMs <= contractLimits.delayMsMax)) {
    throw new RangeError(
      `delay of "${kind}" is ${delayMs} ms; it must lie between 0 and ${contractLimits.delayMsMax} ms`,
    );
  }
  return delayMs;
}

/** Raised at the end, so that one conflict of many does not keep the other jobs from being written. */
function refuseConflicts(jobs: readonly NewJob[], answers: readonly InsertResult[]): void {
  for (const [index, job] of jobs.entries()) {
    const answer = answers[index];
    if (answer?.isConflict === true) throw new KeyConflict(job.kind, job.key ?? "", answer.id);
  }
}

/** The first enqueue of a kind creates its slot groups: a job whose group does not exist would wait for ever. */
async function installSlotsOnce(ports: ClientPorts, definition: JobDefinition, installed: Set<string>): Promise<void> {
  if (installed.has(definition.id)) return;
  const { slotGroups } = definition;
  if (slotGroups.length > 0) await ports.store.installSlots(slotGroups, { onlyNew: true });
  installed.add(definition.id);
}
