import type { JobId, NewJob, RunId } from "../machine/job.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { deliveryLimits } from "../machine/delivery-limits.ts";
import type { Inserted, InsertResult, Store } from "../machine/store.ts";
import { noAftermath } from "../machine/outbox.ts";
import type { NewTarget } from "../machine/run.ts";
import type { CallerTx } from "../machine/transaction.ts";
import { holdCellMap } from "./cell-store.ts";
import { type Arriving, joinBursts } from "./debounce-store.ts";
import { DatabaseError } from "./failure.ts";
import { outboxOf } from "./outbox.ts";
import type { DispatchedRow } from "./sql/dispatch.ts";
import type { Session } from "./session.ts";
import * as sql from "./sql/insert.ts";
import { setLockTimeout } from "./sql/transaction.ts";
import { arrayLiteral, columns, execute, payloadTexts, type Statement } from "./statement.ts";

type Query = Session["run"];

export function enqueueStore(session: Session) {
  return {
    async insert(jobs, { tx, fence, lockWaitMs, mapVersion } = {}) {
      const options = { dispatchWindowMs: session.dispatchWindowMs, beginsHeld: true };
      if (tx !== undefined) {
        if (mapVersion !== undefined) await holdCellMap(tx, mapVersion);
        return await insertInto(tx, jobs, options);
      }
      if (lockWaitMs !== undefined || mapVersion !== undefined) {
        return await session.transaction(async (client) => {
          if (lockWaitMs !== undefined) await execute(client, setLockTimeout, [`${lockWaitMs}ms`]);
          if (mapVersion !== undefined) await holdCellMap(client, mapVersion);
          return await insertInto(client, jobs, options);
        }, fence);
      }
      const isOneStatement =
        fence === undefined && jobs.length <= contractLimits.insertRowsMax && !jobs.some(isDebounced);
      if (isOneStatement) return await insertWith((...sent) => session.run(...sent), jobs, options);
      return await session.transaction((client) => insertInto(client, jobs, options), fence);
    },
  } satisfies Partial<Store>;
}

/** Jobs of one run, inside a transaction that the caller ends. */
export const insertTargetsInto = (
  tx: CallerTx,
  targets: readonly NewTarget[],
  { runId, dispatchWindowMs }: { runId: RunId; dispatchWindowMs: number },
): Promise<Inserted> =>
  insertWith(
    onClient(tx),
    targets.map((target) => target.job),
    {
      dispatchWindowMs,
      runId,
      conditionOf: ({ ord }) => (targets[ord]?.row == null ? null : JSON.stringify(targets[ord].row)),
    },
  );

/** Inserts inside a transaction that the caller ends. */
export const insertInto = (tx: CallerTx, jobs: readonly NewJob[], options: InsertOptions): Promise<Inserted> =>
  insertWith(onClient(tx), jobs, options);

const onClient =
  (tx: CallerTx): Query =>
  (statement, values) =>
    execute(tx, statement, values);

/** `beginsHeld`: whether jobs may begin held. Of a page of a fan-out: its run, and what the condition of a target is asked about. */
interface InsertOptions {
  readonly dispatchWindowMs: number;
  readonly beginsHeld?: boolean;
  readonly runId?: RunId;
  readonly conditionOf?: (arrived: Arriving) => string | null;
}

async function insertWith(run: Query, jobs: readonly NewJob[], options: InsertOptions): Promise<Inserted> {
  const results: (InsertResult | undefined)[] = Array.from({ length: jobs.length });
  const written: Written = { results, dispatched: [], held: new Set() };
  const arriving = jobs.map((job, ord) => ({ ord, job }));
  const insert = async (some: readonly Arriving[]): Promise<void> => {
    for (const page of await pages(run, some)) await insertPage(run, { page, options }, written);
  };
  const joining = jobs.some(isDebounced) ? arriving.filter(({ job }) => isDebounced(job)) : [];
  await insert(joining.length === 0 ? arriving : arriving.filter(({ job }) => !isDebounced(job)));
  if (joining.length > 0) await joinBursts(run, joining, results, insert);
  return {
    results: results.filter((result) => result !== undefined),
    aftermath: {
      ...noAftermath,
      outbox: outboxOf(written.dispatched),
      freed: [...written.held],
      turns: { lanes: [], keys: turnsOf(jobs, results) },
      batches: jobs.flatMap(({ kind, batch }) => (batch === undefined ? [] : { kind, ...batch })),
    },
  };
}

const isDebounced = ({ debounce }: NewJob): boolean => debounce !== undefined;

/** What the new jobs wait on, each once. */
const turnsOf = (jobs: readonly NewJob[], results: readonly (InsertResult | undefined)[]): readonly string[] => [
  ...new Set(jobs.flatMap(({ turn }, ord) => (results[ord]?.created === true ? (turn?.heldOn ?? []) : []))),
];

/**
 * A key that was neither inserted nor found belongs to a transaction that rolled back, or to a row deleted in between:
 * it is inserted again, a bounded number of times.
 */
async function insertPage(
  run: Query,
  { page, options }: { page: readonly Arriving[]; options: InsertOptions },
  written: Written,
): Promise<void> {
  const { results } = written;
  let open = page;
  for (let round = 0; round < deliveryLimits.insertRoundsMax; round += 1) {
    const policies = policiesOf(open);
    const values = insertColumns(open, policies, options);
    const [row] = await run(...insertOf(open, policies, { values, options }));
    if (row !== undefined) takeInserted(row, open, policies.places, written);
    open = open.filter((arrived) => results[arrived.ord] === undefined);
    if (open.length === 0) return;
    for (const found of await run(sql.findKeys, sql.keyColumns(open.map(({ job }) => job)))) {
      const arrived = open[Number(found.ord) - 1];
      if (arrived === undefined) continue;
      results[arrived.ord] = { id: found.id as JobId, created: false, isConflict: found.conflicts };
    }
    open = open.filter((arrived) => results[arrived.ord] === undefined);
    if (open.length === 0) return;
  }
  throw new DatabaseError(invisible(open), { code: "40001" });
}

function insertOf(
  open: readonly Arriving[],
  policies: Policies,
  { values, options }: { values: readonly unknown[]; options: InsertOptions },
): [Statement<sql.InsertedRow>, unknown[]] {
  const isSome = (is: (job: NewJob) => boolean): boolean => open.some(({ job }) => is(job));
  const turns = turnColumns(policies);
  if (isSome(({ batch }) => batch !== undefined))
    return [sql.insertBatchJobs, [...values, ...turns, batchKeys(policies)]];
  if (isSome(({ turn }) => turn !== undefined)) return [sql.insertTurnJobs, [...values, ...turns]];
  if (options.beginsHeld === true && isSome(({ slotKeys }) => slotKeys.length > 0))
    return [sql.insertSlotJobs, [...values, jobsOf(policies)]];
  return [isSome(({ key }) => key !== null) ? sql.insertKeyedJobs : sql.insertJobs, [...values]];
}

/** What an insert has done so far. `dispatched`: in the order of the input. `held`: keys that jobs begin held on. */
interface Written {
  readonly results: (InsertResult | undefined)[];
  readonly dispatched: DispatchedRow[];
  readonly held: Set<string>;
}

function takeInserted(
  { drawn, ids, delays_ms, batches, held }: sql.InsertedRow,
  open: readonly Arriving[],
  policies: readonly number[],
  { results, dispatched, ...written }: Written,
): void {
  const places = drawn === null ? null : new Map(drawn.split(",").map((id, index) => [id, index]));
  const delays = delays_ms.split(",");
  for (const [index, id] of (ids?.split(",") ?? []).entries()) {
    const at = places === null ? index : (places.get(id) ?? -1);
    const arrived = open[at];
    if (arrived === undefined) continue;
    results[arrived.ord] = { id: id as JobId, created: true, isConflict: false };
    const policy = (policies[at] ?? 1) - 1;
    const delay = delays[policy] ?? "";
    const heldOn = held?.[policy] ?? null;
    if (heldOn !== null) written.held.add(heldOn);
    const { lane, trace } = arrived.job;
    if (delay === "") continue;
    dispatched.push({ id, generation: 1, delay_ms: Number(delay), batch: batches?.[lane] ?? null, lane, trace });
  }
}

const invisible = (open: readonly Arriving[]): string =>
  `key "${open[0]?.job.key}" of "${open[0]?.job.kind}" exists but cannot be seen after ${deliveryLimits.insertRoundsMax} attempts: ` +
  "use READ COMMITTED in the transaction you pass";

function insertColumns(
  rows: readonly Arriving[],
  { policies, places }: Policies,
  { dispatchWindowMs, runId, conditionOf }: InsertOptions,
): unknown[] {
  return [
    payloadTexts(rows.map(({ job }) => job)),
    unlessNull(rows.map(({ job }) => job.key)),
    policies.length === 1 ? [] : places,
    conditionOf === undefined ? [] : unlessNull(rows.map(conditionOf)),
    ...columns(policies, "kind", "lane", "leaseMs", "maxAttempts", "retentionMs", "trace"),
    policies.map((job) => arrayLiteral(job.slotKeys)),
    ...columns(policies, "dueAt", "delayMs", "expiresAt"),
    dispatchWindowMs,
    runId ?? null,
  ];
}

const turnColumns = ({ policies }: Policies): unknown[] => [
  policies.map(({ turn }) => turn?.heldOn),
  policies.map(({ turn }) => turn?.weight),
];

const jobsOf = ({ policies, places }: Policies): number[] => {
  const counts = policies.map(() => 0);
  for (const place of places) counts[place - 1] = (counts[place - 1] ?? 0) + 1;
  return counts;
};

const batchKeys = ({ policies }: Policies): unknown[] => policies.map(({ batch }) => batch?.key);

/** A column that is null in every row is not sent: sending a value costs as much as storing it. */
const unlessNull = (values: readonly (string | null)[]): readonly (string | null)[] =>
  values.every((value) => value === null) ? [] : values;

/** What jobs share, each once, as the first job that has it; and for each job the place of its own, from 1. */
interface Policies {
  readonly policies: readonly NewJob[];
  readonly places: readonly number[];
}

/** Most calls have one policy, so the newest is looked at first. */
function policiesOf(rows: readonly Arriving[]): Policies {
  const policies: NewJob[] = [];
  const known = new Map<string, number>();
  let last = 0;
  const places = rows.map(({ job }) => {
    const newest = policies[last - 1];
    if (newest !== undefined && isLike(job, newest)) return last;
    const text = JSON.stringify({ ...job, key: null, payload: null });
    last = known.get(text) ?? policies.push(job);
    known.set(text, last);
    return last;
  });
  return { policies, places };
}

const isLike = (job: NewJob, other: NewJob): boolean =>
  job.kind === other.kind &&
  job.lane === other.lane &&
  job.leaseMs === other.leaseMs &&
  job.maxAttempts === other.maxAttempts &&
  job.retentionMs === other.retentionMs &&
  job.trace === other.trace &&
  job.slotKeys === other.slotKeys &&
  job.turn === other.turn &&
  job.batch === other.batch &&
  job.dueAt === other.dueAt &&
  job.delayMs === other.delayMs &&
  job.expiresAt === other.expiresAt;

/** One page stays as it is: the statement sorts it. Several are made in the order of their keys' hashes, so that two callers cannot deadlock. */
async function pages(run: Query, arriving: readonly Arriving[]): Promise<readonly (readonly Arriving[])[]> {
  const { insertRowsMax } = contractLimits;
  if (arriving.length === 0) return [];
  if (arriving.length <= insertRowsMax) return [arriving];
  const [order] = await run(sql.orderKeys, [arriving.map(({ job }) => job.kind), arriving.map(({ job }) => job.key)]);
  const sorted = order?.ords.split(",").flatMap((ord) => arriving[Number(ord) - 1] ?? []) ?? [];
  return Array.from({ length: Math.ceil(sorted.length / insertRowsMax) }, (_, page) =>
    sorted.slice(page * insertRowsMax, (page + 1) * insertRowsMax),
  );
}
