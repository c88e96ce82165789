import { hash } from "node:crypto";
import type { JobId, NewJob, RunId } from "../../core/job/job.ts";
import { contractLimits } from "../../core/job/contract-limits.ts";
import { deliveryLimits } from "../../core/ports/delivery-limits.ts";
import type { Inserted, InsertResult, NewTarget, Store, Tx } from "../../core/ports/ports.ts";
import { holdCellMap } from "./cell-store.ts";
import { DatabaseError } from "./failure.ts";
import { aftermathOf } from "./outbox.ts";
import type { DispatchedRow } from "./sql/dispatch.ts";
import type { Session } from "./session.ts";
import { findKeys, insertJobs, type InsertedRow } from "./sql/insert.ts";
import { setLockTimeout } from "./sql/transaction.ts";
import { arrayLiteral, columns, execute } from "./statement.ts";

/** A job on its way in, with its place in the input and the hash of what the caller passed. */
interface Arriving {
  readonly ord: number;
  readonly job: NewJob;
  readonly hash: string;
}

type Query = Session["run"];

export function enqueueStore(session: Session): Pick<Store, "insert"> {
  return {
    async insert(jobs, { tx, fence, lockWaitMs, mapVersion } = {}) {
      const { dispatchWindowMs } = session;
      if (tx !== undefined) {
        if (mapVersion !== undefined) await holdCellMap(tx, mapVersion);
        return await insertInto(tx, jobs, dispatchWindowMs);
      }
      if (lockWaitMs !== undefined || mapVersion !== undefined) {
        return await session.transaction(async (client) => {
          if (lockWaitMs !== undefined) await execute(client, setLockTimeout, [`${lockWaitMs}ms`]);
          if (mapVersion !== undefined) await holdCellMap(client, mapVersion);
          return await insertInto(client, jobs, dispatchWindowMs);
        }, fence);
      }
      const isOneStatement = fence === undefined && jobs.length <= contractLimits.insertRowsMax;
      if (isOneStatement) return await insertWith((...sent) => session.run(...sent), jobs, dispatchWindowMs);
      return await session.transaction((client) => insertInto(client, jobs, dispatchWindowMs), fence);
    },
  };
}

/** Jobs of one run, inside a transaction that the caller ends. */
export const insertTargetsInto = (
  tx: Tx,
  targets: readonly NewTarget[],
  { runId, dispatchWindowMs }: { runId: RunId; dispatchWindowMs: number },
): Promise<Inserted> =>
  insertWith(
    onClient(tx),
    targets.map((target) => target.job),
    dispatchWindowMs,
    (rows) => [runId, conditionRows(rows, targets)],
  );

/** Empty when it is null in every row. */
function conditionRows(rows: readonly Arriving[], targets: readonly NewTarget[]): (string | null)[] {
  const asked = rows.map(({ ord }) => targets[ord]?.row ?? null);
  return asked.every((row) => row === null) ? [] : asked.map((row) => (row === null ? null : JSON.stringify(row)));
}

/** The last parameters of the statement: a run, and the rows of its condition. */
type Rest = (rows: readonly Arriving[]) => unknown[];

const single: Rest = () => [null, []];

/** Inserts inside a transaction that the caller ends. */
export const insertInto = (tx: Tx, jobs: readonly NewJob[], dispatchWindowMs: number): Promise<Inserted> =>
  insertWith(onClient(tx), jobs, dispatchWindowMs);

const onClient =
  (tx: Tx): Query =>
  (statement, values) =>
    execute(tx, statement, values);

async function insertWith(
  run: Query,
  jobs: readonly NewJob[],
  dispatchWindowMs: number,
  rest: Rest = single,
): Promise<Inserted> {
  const results: (InsertResult | undefined)[] = Array.from({ length: jobs.length });
  const dispatched: DispatchedRow[] = [];
  const arriving = jobs.map((job, ord) => ({ ord, job, hash: hash("sha256", job.canonicalInput, "hex") }));
  for (const page of pages(arriving)) await insertPage(run, { page, dispatchWindowMs, rest }, results, dispatched);
  return { results: results.filter((result) => result !== undefined), aftermath: aftermathOf(dispatched) };
}

/**
 * A key that was neither inserted nor found belongs to a transaction that rolled back, or to a row deleted in between:
 * it is inserted again, a bounded number of times.
 */
async function insertPage(
  run: Query,
  { page, dispatchWindowMs, rest }: { page: readonly Arriving[]; dispatchWindowMs: number; rest: Rest },
  results: (InsertResult | undefined)[],
  dispatched: DispatchedRow[],
): Promise<void> {
  let open = page;
  for (let round = 0; round < deliveryLimits.insertRoundsMax; round += 1) {
    for (const row of await run(insertJobs, [...insertColumns(open), dispatchWindowMs, ...rest(open)])) {
      dispatched.push(...takeInserted(row, open, results));
    }
    open = open.filter((arrived) => results[arrived.ord] === undefined);
    if (open.length === 0) return;
    const found = await run(
      findKeys,
      columns(
        open,
        (each) => each.job.kind,
        (each) => each.job.key,
      ),
    );
    for (const row of found) {
      const arrived = open[Number(row.ord) - 1];
      if (arrived === undefined) continue;
      results[arrived.ord] = { id: row.id as JobId, created: false, isConflict: row.hash !== arrived.hash };
    }
    open = open.filter((arrived) => results[arrived.ord] === undefined);
    if (open.length === 0) return;
  }
  throw new DatabaseError(invisible(open), { code: "40001" });
}

/** Notes the written jobs. @returns those to dispatch, in the order of the input. */
function takeInserted(
  row: InsertedRow,
  open: readonly Arriving[],
  results: (InsertResult | undefined)[],
): readonly DispatchedRow[] {
  const place = new Map(row.drawn.split(",").map((id, index) => [id, index]));
  const [generations, delays, outbox] = [row.generations ?? "", row.delays_ms ?? "", row.outbox ?? ""].map((list) =>
    list.split(","),
  );
  const dispatched: (DispatchedRow | undefined)[] = Array.from({ length: open.length });
  for (const [index, id] of (row.ids?.split(",") ?? []).entries()) {
    const at = place.get(id) ?? -1;
    const arrived = open[at];
    if (arrived === undefined) continue;
    const { lane, trace } = arrived.job;
    results[arrived.ord] = { id: id as JobId, created: true, isConflict: false };
    const generation = Number(generations?.[index]);
    dispatched[at] = { id, generation, delay_ms: Number(delays?.[index]), batch: outbox?.[index] || null, lane, trace };
  }
  return dispatched.filter((each) => each !== undefined);
}

const invisible = (open: readonly Arriving[]): string =>
  `key "${open[0]?.job.key}" of "${open[0]?.job.kind}" exists but cannot be seen after ${deliveryLimits.insertRoundsMax} attempts: ` +
  "use READ COMMITTED in the transaction you pass";

const insertColumns = (rows: readonly Arriving[]): unknown[][] => [
  rows.map(({ job }) => JSON.stringify(job.payload)),
  rows.map((each) => each.hash),
  ...nullable(
    rows,
    (job) => job.key,
    (job) => job.dueAt,
    (job) => job.expiresAt,
    (job) => arrayLiteral(job.slotKeys),
  ),
  ...common(
    rows,
    (job) => job.kind,
    (job) => job.lane,
    (job) => job.leaseMs,
    (job) => job.maxAttempts,
    (job) => job.retentionMs,
    (job) => job.trace,
    (job) => job.delayMs,
  ),
];

type Column = string | number | null;

/** A column that is null in every row is not sent: sending a value costs as much as storing it. */
const nullable = (rows: readonly Arriving[], ...pick: readonly ((job: NewJob) => Column)[]): Column[][] =>
  pick.map((of) => (rows.every(({ job }) => of(job) === null) ? [] : rows.map(({ job }) => of(job))));

/** A column that is the same in every row is sent once. */
const common = (rows: readonly Arriving[], ...pick: readonly ((job: NewJob) => Column)[]): Column[][] =>
  pick.map((of) => {
    const first = rows[0] === undefined ? null : of(rows[0].job);
    return rows.every(({ job }) => of(job) === first) ? [first] : rows.map(({ job }) => of(job));
  });

/** One page stays as it is: the statement sorts it. Several are made in key order, so that two callers cannot deadlock. */
function pages(arriving: readonly Arriving[]): readonly (readonly Arriving[])[] {
  if (arriving.length === 0) return [];
  if (arriving.length <= contractLimits.insertRowsMax) return [arriving];
  const sorted = arriving.toSorted(byKey);
  const count = Math.ceil(sorted.length / contractLimits.insertRowsMax);
  return Array.from({ length: count }, (_, page) =>
    sorted.slice(page * contractLimits.insertRowsMax, (page + 1) * contractLimits.insertRowsMax),
  );
}

function byKey(a: Arriving, b: Arriving): number {
  if (a.job.key !== b.job.key) {
    if (a.job.key === null || b.job.key === null) return a.job.key === null ? 1 : -1;
    return a.job.key < b.job.key ? -1 : 1;
  }
  if (a.job.kind !== b.job.kind) return a.job.kind < b.job.kind ? -1 : 1;
  return a.ord - b.ord;
}
