import { cleanCode, cleanJson, cleanMessage } from "../machine/clean.ts";
import type { JobId } from "../machine/job.ts";
import { runLimits } from "../machine/run-limits.ts";
import { type Aftermath, noAftermath, mergeAftermaths } from "../machine/outbox.ts";
import { type StoreTx, type Tx } from "../machine/transaction.ts";
import { type Settled, type Settlement, type Store } from "../machine/store.ts";
import { insertInto } from "./enqueue-store.ts";
import { codeOf, isDataError } from "./failure.ts";
import { aftermathOf, byId, movedOf } from "./outbox.ts";
import type { Session } from "./session.ts";
import * as sql from "./sql/settle.ts";
import { columns, execute, type Statement } from "./statement.ts";

type SettleOptions = Parameters<Store["settle"]>[1] & Pick<Session, "dispatchWindowMs">;

/** What `settle` answers by an id alone. */
const plainSettled = {
  state: "SUCCESS",
  generation: 0,
  lane: "",
  trace: "",
  delay_ms: 0,
  batch: null,
  freed: null,
  own: true,
  run_id: null,
} as const satisfies Omit<sql.SettledRow, "id">;

export function settleStore(session: Session) {
  return {
    async settle(settlements, asked) {
      if (settlements.length === 0) return { settled: [], aftermath: noAftermath, conflicts: 0 };
      const options = { ...asked, dispatchWindowMs: session.dispatchWindowMs };
      if (options.tx !== undefined) return await settleIn(options.tx, settlements, options);
      try {
        return await settleGroup(session, settlements, options);
      } catch (error) {
        if (!isDataError(error)) throw error;
        return await settleSingly(session, settlements, options, error);
      }
    },
  } satisfies Partial<Store>;
}

/** Without children and hook each text is a transaction of its own. */
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

/**
 * Inside a transaction that the caller ends. Nothing settled means the caller has to roll back. Several rows are written by one
 * text: the second of two would lock its rows behind those of the first, out of the order of ids.
 */
async function settleIn(
  tx: Tx,
  settlements: readonly Settlement[],
  options: SettleOptions,
  storeTx?: StoreTx,
): Promise<Settled> {
  const run: Session["run"] = (statement, values) => execute(tx, statement, values);
  const rows = await (settlements.length > 1 ? writeFull : write)(run, settlements, options);
  const written = new Set<string>(rows.filter((row) => row.own).map((row) => row.id));
  const children = settlements.filter((each) => written.has(each.jobId)).flatMap((each) => each.children);
  const inserted = children.length === 0 ? null : await insertInto(tx, children, options);
  if (options.inSameTransaction !== undefined && storeTx !== undefined && written.size > 0) {
    await options.inSameTransaction(storeTx, await movedOf(tx, [...written]));
  }
  const conflicts = inserted?.results.filter(({ isConflict }) => isConflict).length ?? 0;
  return { ...settled(rows, inserted?.aftermath), conflicts };
}

/**
 * Plain rows first, then the others: successes of tasks (`inRun`) by themselves where there is nothing else, because what the first of
 * two texts had written would be lost when the second one fails. What is left then has slots or a run, or another worker by now.
 */
async function write(
  run: Session["run"],
  settlements: readonly Settlement[],
  options: SettleOptions,
): Promise<readonly sql.SettledRow[]> {
  const plain = settlements.filter(
    (each) => each.inRun !== true && !each.hasSlots && stateOf(each, options) !== "QUEUED",
  );
  const isPlain = new Set(plain);
  const tasks = settlements.filter((each) => !isPlain.has(each));
  const areTasks = tasks.every((each) => each.inRun === true && !each.hasSlots && each.to === "SUCCESS");
  const rows = [
    ...(plain.length === 0 ? [] : await run(...plainWrite(plain, options))),
    ...(tasks.length > 0 && areTasks ? await run(sql.settleTasks, tasksWrite(tasks, options)) : []),
  ].flatMap(writtenRows);
  const written = new Set<string>(rows.map(({ id }) => id));
  const left = settlements.filter((each) => !written.has(each.jobId));
  return left.length === 0 ? rows : [...rows, ...(await writeFull(run, left, options))];
}

const writeFull: typeof write = (run, settlements, options) =>
  run(sql.settleFull, [...settleColumns(settlements, options), options.dispatchWindowMs, runLimits.releasedRowsMax]);

/** A mix of outcomes is one statement: two would be two commits. */
function plainWrite(
  settlements: readonly Settlement[],
  options: SettleOptions,
): [Statement<sql.WrittenRows>, unknown[]] {
  if (settlements.some((each) => each.to !== "SUCCESS")) return [sql.settlePlain, settleColumns(settlements, options)];
  return [sql.settleSuccess, successColumns(settlements, options)];
}

function successColumns(settlements: readonly Settlement[], { worker }: SettleOptions): unknown[] {
  const rows = inIdOrder(settlements);
  return [...columns(rows, "jobId", "attempt"), worker, nullable(rows, resultOf)];
}

const tasksWrite = (tasks: readonly Settlement[], options: SettleOptions): unknown[] => [
  ...successColumns(tasks, options),
  options.dispatchWindowMs,
  runLimits.releasedRowsMax,
];

/** Each run stands in one row, since it is brought forward once. */
const writtenRows = ({ ids, runs = [], released }: sql.WrittenRows): readonly sql.SettledRow[] => [
  ...(ids?.split(",") ?? []).map((id, n) => ({ ...plainSettled, id, run_id: runs[n] ?? null })),
  ...(released ?? []),
];

const inIdOrder = (settlements: readonly Settlement[]): readonly Settlement[] =>
  settlements.toSorted((a, b) => byId(a.jobId, b.jobId));

function settleColumns(settlements: readonly Settlement[], options: SettleOptions): unknown[] {
  const rows = inIdOrder(settlements);
  return [
    ...columns(rows, "jobId", "attempt"),
    rows.map((each) => stateOf(each, options)),
    rows.map((each) => stateOf(each, options) !== each.to),
    eventNumbers(rows, options),
    nullable(rows, (each) => cleanMessage(each.reason)),
    ...columns(rows, "delayMs", "failures", "interruptions"),
    nullable(rows, (each) => cleanCode(each.errorCode)),
    nullable(rows, (each) => cleanMessage(each.errorMessage)),
    nullable(rows, resultOf),
    options.worker,
    nullable(rows, ({ detail }) => (detail === undefined ? null : JSON.stringify(detail))),
  ];
}

/** What waits no longer than the dispatch window becomes QUEUED in the same row update, and both events are written. */
const stateOf = ({ to, delayMs, takesTurns }: Settlement, { dispatchWindowMs }: SettleOptions): Settlement["to"] =>
  to === "RETRY_WAIT" && delayMs <= dispatchWindowMs && takesTurns !== true ? "QUEUED" : to;

/** A column that is null in every row is not sent. */
function nullable(rows: readonly Settlement[], of: (each: Settlement) => string | null): (string | null)[] | null {
  const values = rows.map((each) => of(each));
  return values.every((value) => value === null) ? null : values;
}

/** Outcomes of one event row share its number, from 1; what passes through RETRY_WAIT has one more before it. */
function eventNumbers(settlements: readonly Settlement[], options: SettleOptions): readonly number[] {
  const numbers = new Map<string, number>();
  let last = 0;
  return settlements.map((each) => {
    const state = stateOf(each, options);
    const key =
      each.to === "SUCCESS"
        ? ""
        : JSON.stringify([each.to, state, cleanMessage(each.reason), cleanCode(each.errorCode)]);
    const known = numbers.get(key);
    if (known !== undefined) return known;
    last += state === each.to ? 1 : 2;
    numbers.set(key, last);
    return last;
  });
}

function resultOf({ result }: Settlement): string | null {
  const text = result === null ? null : JSON.stringify(result);
  return text !== null && uncleanText.test(text) ? JSON.stringify(cleanJson(result)) : text;
}

/** How JSON writes NUL and half a surrogate pair. */
const uncleanText = /\\u(?:0000|d[89a-f])/;

function settled(rows: readonly sql.SettledRow[], ofChildren?: Aftermath): Settled {
  const own = { ...aftermathOf(rows), leftToRelay: [...new Set(rows.filter(isLeft).map((row) => row.lane))] };
  return {
    settled: rows.filter((row) => row.own).map((row) => row.id as JobId),
    aftermath: ofChildren === undefined ? own : mergeAftermaths([own, ofChildren]),
    conflicts: 0,
  };
}

/** A successor that may start but was beyond the statement's limit. */
const isLeft = (row: sql.SettledRow): boolean => !row.own && row.state === "PENDING";

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
        errorMessage: `its outcome was refused by the database (${codeOf(cause) || "unknown"})`,
        result: null,
        children: [],
      },
    ],
    options,
  );
