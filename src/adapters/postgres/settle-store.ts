import { cleanCode, cleanJson, cleanMessage } from "../../core/job/clean.ts";
import type { JobId, Json } from "../../core/job/job.ts";
import { limits } from "../../core/limits.ts";
import type {
  OutboxBatch,
  InSameTransaction,
  Moved,
  RunId,
  Settled,
  Settlement,
  Store,
  StoreTx,
  Tx,
} from "../../core/ports/ports.ts";
import { insertInto } from "./enqueue-store.ts";
import { isDataError } from "./failure.ts";
import { outboxOf } from "./outbox.ts";
import type { Session } from "./session.ts";
import { readSettled, settleDone, settleFull, settlePlain, type SettledRow } from "./sql/settle.ts";
import { settleRun, type SettledRunRow } from "./sql/settle-run.ts";
import { execute, type Statement } from "./statement.ts";

interface SettleOptions {
  readonly worker: string;
  readonly dispatchWindowMs: number;
  readonly tx?: Tx;
  readonly inSameTransaction?: InSameTransaction;
}

type Run = <R>(statement: Statement<R>, values: unknown[]) => Promise<R[]>;

const nothing: Settled = { settled: [], outbox: [], freed: [] };

export function settleStore(session: Session): Pick<Store, "settle"> {
  return {
    async settle(settlements, options) {
      if (settlements.length === 0) return nothing;
      if (options.tx !== undefined) return await settleIn(options.tx, settlements, options);
      try {
        return await settleGroup(session, settlements, options);
      } catch (error) {
        if (!isDataError(error)) throw error;
        return await settleSingly(session, settlements, options, error);
      }
    },
  };
}

/** A plain group without children and hook stays one statement. */
async function settleGroup(
  session: Session,
  settlements: readonly Settlement[],
  options: SettleOptions,
): Promise<Settled> {
  const { inSameTransaction } = options;
  const isPlain = inSameTransaction === undefined && settlements.every((each) => each.children.length === 0);
  if (isPlain) return settled(await write((statement, values) => session.run(statement, values), settlements, options));
  return await session.transaction(async (tx) => await settleIn(tx, settlements, options, tx));
}

/** Inside a transaction that the caller ends. Nothing settled means the caller has to roll back. */
async function settleIn(
  tx: Tx,
  settlements: readonly Settlement[],
  options: SettleOptions,
  storeTx?: StoreTx,
): Promise<Settled> {
  const { rows, released } = await write((statement, values) => execute(tx, statement, values), settlements, options);
  const written = new Set<string>(rows.map((row) => row.id));
  const children = settlements.filter((each) => written.has(each.jobId)).flatMap((each) => each.children);
  const inserted = children.length === 0 ? null : await insertInto(tx, children, options.dispatchWindowMs);
  if (options.inSameTransaction !== undefined && storeTx !== undefined && rows.length > 0) {
    await options.inSameTransaction(storeTx, await movedOf(tx, [...written]));
  }
  const conflicts = inserted?.results.filter((result) => result.conflict !== null).length ?? 0;
  return { ...settled({ rows, released }, inserted?.outbox ?? []), ...ofConflicts(conflicts) };
}

type WrittenRow = Pick<SettledRow, "id"> & Partial<SettledRow> & { readonly run_id?: string | null };

interface Written {
  readonly rows: readonly WrittenRow[];
  /** Successors in runs that may start now. */
  readonly released: readonly SettledRunRow[];
}

/** Rows of runs are told apart by a hint, or else by having been left out twice: the outcome is the same. */
async function write(run: Run, settlements: readonly Settlement[], options: SettleOptions): Promise<Written> {
  const outside = settlements.filter((each) => each.inRun !== true);
  const rows = await writePlain(run, outside, options);
  const special = unwritten(outside, rows);
  if (special.length > 0) rows.push(...(await run(settleFull, settleColumns(special, options))));
  const left = unwritten(settlements, rows);
  if (left.length === 0) return { rows, released: [] };
  const full = await run(settleRun, [...settleColumns(left, options), limits.releasedRowsMax]);
  return { rows: [...rows, ...full.filter(isOwn)], released: full.filter((row) => !row.own) };
}

/** A group of successes is most of a worker's day and has a shorter statement. */
async function writePlain(run: Run, settlements: readonly Settlement[], options: SettleOptions): Promise<WrittenRow[]> {
  if (settlements.length === 0) return [];
  if (!settlements.every(isBareSuccess)) return await run(settlePlain, settleColumns(settlements, options));
  const [row] = await run(settleDone, [
    settlements.map((each) => each.jobId),
    settlements.map((each) => each.attempt),
    settlements.map((each) => resultOf(each)),
    options.worker,
  ]);
  return row?.ids?.split(",").map((id) => ({ id })) ?? [];
}

const isBareSuccess = (each: Settlement): boolean =>
  each.to === "SUCCESS" &&
  each.reason === null &&
  each.errorCode === null &&
  each.errorMessage === null &&
  each.failures === 0 &&
  each.interruptions === 0;

function unwritten(settlements: readonly Settlement[], rows: readonly WrittenRow[]): readonly Settlement[] {
  if (rows.length === settlements.length) return [];
  const written = new Set<string>(rows.map((row) => row.id));
  return settlements.filter((each) => !written.has(each.jobId));
}

const isOwn = (row: SettledRunRow): row is SettledRunRow & SettledRow => row.own;

const settleColumns = (settlements: readonly Settlement[], { worker, dispatchWindowMs }: SettleOptions): unknown[] => [
  settlements.map((each) => each.jobId),
  settlements.map((each) => each.attempt),
  settlements.map((each) => each.to),
  settlements.map((each) => cleanMessage(each.reason)),
  settlements.map((each) => each.delayMs),
  settlements.map((each) => each.failures),
  settlements.map((each) => each.interruptions),
  settlements.map((each) => cleanCode(each.errorCode)),
  settlements.map((each) => cleanMessage(each.errorMessage)),
  settlements.map((each) => resultOf(each)),
  worker,
  dispatchWindowMs,
];

const resultOf = ({ result }: Settlement): string | null =>
  result === null ? null : JSON.stringify(cleanJson(result));

function settled({ rows, released }: Written, children: readonly OutboxBatch[] = []): Settled {
  return {
    ...ofRuns([...new Set(rows.flatMap((row) => row.run_id ?? []))] as RunId[]),
    ...(released.some((row) => row.left_to_relay) ? { leftToRelay: true } : {}),
    settled: rows.map((row) => row.id as JobId),
    outbox: [...outboxOf([...rows.filter(isHanded), ...released]), ...children],
    freed: [...new Set(rows.flatMap((row) => row.freed ?? []))],
  };
}

const isHanded = (row: WrittenRow): row is SettledRow => row.handoff !== null && row.handoff !== undefined;

const ofConflicts = (conflicts: number): Pick<Settled, "conflicts"> => (conflicts === 0 ? {} : { conflicts });

const ofRuns = (runs: readonly RunId[]): Pick<Settled, "runs"> => (runs.length === 0 ? {} : { runs });

/** For a hook in the same transaction. */
export async function movedOf(tx: Tx, ids: readonly string[]): Promise<readonly Moved[]> {
  const rows = await execute(tx, readSettled, [ids]);
  return rows.map((row) => ({
    jobId: row.id as JobId,
    kind: row.kind,
    payload: row.payload as Json,
    state: row.state,
    attempt: row.attempt,
    errorCode: row.error_code,
    errorMessage: row.error_message,
  }));
}

/**
 * One bad row must not keep its group from being settled: each is tried by itself, and the one whose data is refused is
 * FAILED `unsettleable`, with the code of the refusal only and without its result and children.
 */
async function settleSingly(
  session: Session,
  settlements: readonly Settlement[],
  options: SettleOptions,
  cause: unknown,
): Promise<Settled> {
  const parts: Settled[] = [];
  for (const each of settlements) {
    try {
      parts.push(
        settlements.length === 1
          ? await refuse(session, each, options, cause)
          : await settleGroup(session, [each], options),
      );
    } catch (error) {
      if (!isDataError(error)) throw error;
      parts.push(await refuse(session, each, options, error));
    }
  }
  return {
    ...ofRuns([...new Set(parts.flatMap((part) => part.runs ?? []))]),
    ...ofConflicts(parts.reduce((sum, part) => sum + (part.conflicts ?? 0), 0)),
    ...(parts.some((part) => part.leftToRelay === true) ? { leftToRelay: true } : {}),
    settled: parts.flatMap((part) => part.settled),
    outbox: parts.flatMap((part) => part.outbox),
    freed: [...new Set(parts.flatMap((part) => part.freed))],
  };
}

const refuse = (session: Session, settlement: Settlement, options: SettleOptions, cause: unknown): Promise<Settled> =>
  settleGroup(
    session,
    [
      {
        ...settlement,
        to: "FAILED",
        reason: "unsettleable",
        errorCode: "unsettleable",
        errorMessage: `its outcome was refused by the database (${codeOf(cause)})`,
        result: null,
        children: [],
      },
    ],
    options,
  );

const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error ? String(error.code) : "unknown";
