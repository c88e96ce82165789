import { cleanCode, cleanJson, cleanMessage } from "../../core/job/clean.ts";
import type { JobId, Json } from "../../core/job/job.ts";
import { limits } from "../../core/limits.ts";
import {
  type Aftermath,
  type InSameTransaction,
  type Moved,
  noAftermath,
  type Settled,
  type Settlement,
  type Store,
  type StoreTx,
  type Tx,
} from "../../core/ports/ports.ts";
import { insertInto } from "./enqueue-store.ts";
import { isDataError } from "./failure.ts";
import { aftermathOf } from "./outbox.ts";
import { mergeAftermaths } from "../../core/ports/aftermath.ts";
import type { Session } from "./session.ts";
import { readSettled, settleFull, settlePlain, type SettledRow } from "./sql/settle.ts";
import { execute, type Statement } from "./statement.ts";

interface SettleOptions {
  readonly worker: string;
  readonly dispatchWindowMs: number;
  readonly tx?: Tx;
  readonly inSameTransaction?: InSameTransaction;
}

type Run = <R>(statement: Statement<R>, values: unknown[]) => Promise<R[]>;

const nothing: Settled = { settled: [], aftermath: noAftermath, conflicts: 0 };

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

/** A plain group without children and hook is one statement. */
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
  const rows = await write((statement, values) => execute(tx, statement, values), settlements, options);
  const written = new Set<string>(rows.filter((row) => row.own).map((row) => row.id));
  const children = settlements.filter((each) => written.has(each.jobId)).flatMap((each) => each.children);
  const inserted = children.length === 0 ? null : await insertInto(tx, children, options.dispatchWindowMs);
  if (options.inSameTransaction !== undefined && storeTx !== undefined && written.size > 0) {
    await options.inSameTransaction(storeTx, await movedOf(tx, [...written]));
  }
  const conflicts = inserted?.results.filter((result) => result.conflict !== null).length ?? 0;
  return { ...settled(rows, inserted?.aftermath), conflicts };
}

/** Rows that the first text left out have slots, a schedule, a run or an expiry, or were lost. `inRun` saves the first text. */
async function write(
  run: Run,
  settlements: readonly Settlement[],
  options: SettleOptions,
): Promise<readonly SettledRow[]> {
  const plain = settlements.filter((each) => each.inRun !== true);
  const rows = plain.length === 0 ? [] : await run(settlePlain, settleColumns(plain, options));
  if (rows.length === settlements.length) return rows;
  const written = new Set<string>(rows.map((row) => row.id));
  const left = settlements.filter((each) => !written.has(each.jobId));
  return [...rows, ...(await run(settleFull, [...settleColumns(left, options), limits.releasedRowsMax]))];
}

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
  kindsOf(settlements, dispatchWindowMs),
  worker,
  dispatchWindowMs,
  settlements.map(({ detail }) => (detail === undefined ? null : JSON.stringify(detail))),
];

/** Numbers the kinds of outcome from 1: one event row for each. */
function kindsOf(settlements: readonly Settlement[], dispatchWindowMs: number): readonly number[] {
  const kinds = new Map<string, number>();
  return settlements.map(({ to, reason, errorCode, delayMs }) => {
    const key = JSON.stringify([to, cleanMessage(reason), cleanCode(errorCode), delayMs <= dispatchWindowMs]);
    const kind = kinds.get(key) ?? kinds.size + 1;
    kinds.set(key, kind);
    return kind;
  });
}

const resultOf = ({ result }: Settlement): string | null =>
  result === null ? null : JSON.stringify(cleanJson(result));

const settled = (rows: readonly SettledRow[], ofChildren: Aftermath = noAftermath): Settled => ({
  settled: rows.filter((row) => row.own).map((row) => row.id as JobId),
  aftermath: mergeAftermaths([
    { ...aftermathOf(rows), leftToRelay: rows.filter(isLeft).map((row) => row.lane) },
    ofChildren,
  ]),
  conflicts: 0,
});

/** A successor that may start but was beyond the statement's limit. */
const isLeft = (row: SettledRow): boolean => !row.own && row.state === "PENDING";

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
 * One bad row must not block its group: each is settled by itself. A row whose data Postgres refuses is FAILED
 * `unsettleable`, with only the code of the refusal and without its result and children.
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
    settled: parts.flatMap((part) => part.settled),
    aftermath: mergeAftermaths(parts.map((part) => part.aftermath)),
    conflicts: parts.reduce((sum, part) => sum + part.conflicts, 0),
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
