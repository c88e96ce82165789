import type { Json } from "../machine/job.ts";
import type { PoolClient } from "pg";
import { postgresLimits } from "./postgres-limits.ts";
import type { CallerTx } from "../machine/transaction.ts";
import { toStoreError } from "./failure.ts";

/**
 * A named, static text. `R` is the row it returns; the text is the only place that can make that untrue, and the contract
 * suite reads it.
 */
export interface Statement<R> {
  readonly name: string;
  readonly text: string;
  /** A connection may keep it prepared for calls of up to so many rows; 0 is never. */
  readonly keptRowsMax: number;
  readonly answers?: R;
}

/**
 * Sent unnamed and planned with its values each time: a plan made on an empty table would be kept for ever.
 * The name travels as a comment, so that pg_stat_activity and a slow-query log can say which statement it was. Called with the name
 * and then with the text: `statement<Row>("lock-read")(...)`.
 */
export const statement =
  <R>(name: string) =>
  (text: string): Statement<R> => ({ name, text: `/* belfry:${name} */${text}`, keptRowsMax: 0 });

/**
 * Kept prepared on Belfry's connections when it is for a few rows (its plan expects about ten): parsing and planning would cost
 * more than half of the execution. Only for texts that reach every table by one index at any size (see `keptPlanSettings`); a
 * test plans them on empty tables and runs them after a burst.
 */
export const keptStatement =
  <R>(name: string) =>
  (text: string): Statement<R> => ({ ...statement<R>(name)(text), keptRowsMax: postgresLimits.keptPlanRowsMax });

/** The same for texts whose joins find each row by its key: a plan for one row is as good for a thousand. */
export const keptForAnySize =
  <R>(name: string) =>
  (text: string): Statement<R> => ({ ...statement<R>(name)(text), keptRowsMax: Number.POSITIVE_INFINITY });

/**
 * Start-up settings of connections that keep prepared statements. For an empty table without statistics the planner prefers a
 * full scan, and a kept plan would do that for ever, so scans are off. A bitmap scan brings rows in the order of the table, but
 * `id = any(...)` has to lock them by id. Without these settings two statements may deadlock, and are repeated.
 */
export const keptPlanSettings = "-c enable_seqscan=off -c enable_bitmapscan=off -c jit=off";

const preparing = new WeakSet<object>();

/** Lets a connection that was opened with `keptPlanSettings` keep prepared statements. */
export function keepPlans(client: CallerTx): void {
  preparing.add(client);
}

/** `tx` passes on to this connection what it is given. */
export function keepPlansAs(client: CallerTx, tx: CallerTx): void {
  if (preparing.has(client)) preparing.add(tx);
}

/** Runs one statement on a client: by itself it is its own transaction, after a `begin` a part of that. */
export async function execute<R>(
  tx: CallerTx,
  { name, text, keptRowsMax }: Statement<R>,
  values: unknown[] = [],
): Promise<R[]> {
  try {
    const isPrepared = rowsOf(values) <= keptRowsMax && preparing.has(tx);
    const sent = values.map(parameter);
    const { rows } = isPrepared
      ? await (tx as PoolClient).query({ name: `belfry_${name}`, text, values: sent })
      : await tx.query(text, sent);
    return rows as R[];
  } catch (error) {
    throw toStoreError(error, `statement ${name}`);
  }
}

const rowsOf = (values: readonly unknown[]): number => (Array.isArray(values[0]) ? values[0].length : 1);

/** An array as Postgres reads it; the driver's own way looks at each element for what it may be, which costs as much as the rest. */
const parameter = (value: unknown): unknown => (Array.isArray(value) ? `{${value.map(element).join(",")}}` : value);

function element(value: unknown): string {
  if (value === null || value === undefined) return "NULL";
  if (typeof value === "string") return quoted(value);
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  throw new TypeError(`an array parameter holds a ${typeof value}: pass strings, numbers, booleans or null`);
}

const quoted = (text: string): string => `"${/["\\]/.test(text) ? text.replaceAll(/["\\]/g, String.raw`\$&`) : text}"`;

/** Text arrays inside an array parameter travel as array literals, since unnest would flatten them. */
export const arrayLiteral = (items: readonly string[]): string | null =>
  items.length === 0 ? null : `{${items.map(quoted).join(",")}}`;

/** One array for each of these fields, for `unnest`. */
export const columns = <T>(rows: readonly T[], ...fields: readonly (keyof T)[]): unknown[][] =>
  fields.map((field) => rows.map((row) => row[field]));

/** JSON escapes it, so payloads travel as one text with it between them: an array quotes each a second time. */
const unitSeparator = "\u001F";
export const payloadTexts = (jobs: readonly { readonly payload: Json }[]): string =>
  jobs.map(({ payload }) => JSON.stringify(payload)).join(unitSeparator);
