/** Lists of all cells, in pages with one cursor. */
import type { BulkReply } from "../api/shape/bulk.ts";
import type { JobListReply } from "../api/shape/job.ts";
import type { AuditListReply } from "../api/shape/overview.ts";
import type { RunListReply } from "../api/shape/run.ts";
import type { ScheduleOutcomeListReply } from "../api/shape/schedule-outcome.ts";
import type { ScheduleListReply } from "../api/shape/schedule.ts";
import { invalidField } from "../api/problem.ts";
import { type Asking, everyCell, type FromAll, type Reach } from "./ask.ts";
import { every, down, byField, type Fold, type Said, up } from "./fold.ts";

type Row = Readonly<Record<string, unknown>>;
interface Order {
  readonly field: string;
  readonly isUp: boolean;
}

/** A list that comes in pages. */
export interface List {
  readonly member: string;
  /** What stands beside the rows and the cursor. */
  readonly rest: Fold<object>;
  /** What the rows of each cell are in the order of. */
  readonly order: (query: URLSearchParams) => Order;
}

type RowOf<R, M extends keyof R> = R[M] extends readonly (infer T)[] ? T : never;

const list = <R extends { nextCursor: string | null }, M extends Exclude<keyof R, "nextCursor"> & string>(
  member: M,
  rest: { readonly [K in keyof Omit<R, M | "nextCursor">]-?: Fold<Exclude<R[K], undefined>> },
  order: (query: URLSearchParams) => { readonly field: keyof RowOf<R, M> & string; readonly isUp: boolean },
): List => ({ member, rest: byField(rest as never), order });

const byTime = { field: "createdAt", isUp: false } as const;

export const lists: Readonly<Record<string, List>> = {
  "/jobs": list<JobListReply, "jobs">("jobs", { complete: every }, (query) =>
    query.get("sort") === "due"
      ? { field: "dueAt", isUp: true }
      : { field: "createdAt", isUp: query.get("sort") === "oldest" },
  ),
  "/runs": list<RunListReply, "runs">("runs", {}, () => byTime),
  "/audits": list<AuditListReply, "audits">("audits", {}, () => ({ field: "at", isUp: false })),
  "/bulk": list<{ bulks: BulkReply[]; nextCursor: string | null }, "bulks">("bulks", {}, () => byTime),
  "/schedules": list<ScheduleListReply, "schedules">("schedules", {}, () => ({ field: "id", isUp: true })),
};

/** Where each cell's list goes on; null: it has ended. A cell that is missing begins. */
export type Cursors = Readonly<Record<string, string | null>>;

const cursorCharactersMax = 8_192;
const limitUsual = 50;
const limitMax = 500;

export const writeCursor = (cursors: Cursors): string => Buffer.from(JSON.stringify(cursors)).toString("base64url");

/** @returns null for what is no cursor of a front. */
export function readCursor(text: string): Cursors | null {
  if (text.length > cursorCharactersMax) return null;
  try {
    const value: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
    const isFit = Object.values(value).every((one) => one === null || typeof one === "string");
    return isFit ? (value as Cursors) : null;
  } catch {
    return null;
  }
}

/**
 * One page of the rows of all cells. Rows have ids that the cells' own cursors are made of, so a page may end anywhere;
 * where they are not (`sort=due`, by name), each page has whole pages of the cells and is in order within itself.
 */
export function page(
  { member, order }: List,
  said: readonly Said<object>[],
  { query, limit, before }: { query: URLSearchParams; limit: number; before: Cursors },
): { readonly rows: readonly Row[]; readonly cursors: Cursors } {
  const { field, isUp } = order(query);
  const pages = said.map(({ cell, value }) => ({ cell, value: value as Row, own: rowsOf(value, member) }));
  const sorted = pages
    .flatMap(({ cell, own }) => own.map((row): Row => ({ ...row, cell })))
    .toSorted((isUp ? up : down)((row: Row) => String(row[field])));
  const isById = field === "createdAt" || field === "at";
  const rows = isById ? sorted.slice(0, limit) : sorted;
  const cursors: Record<string, string | null> = { ...before };
  for (const { cell, value, own } of pages) {
    const taken = rows.filter((row) => row["cell"] === cell);
    const last = taken.at(-1)?.["id"];
    if (taken.length === own.length) cursors[cell] = (value["nextCursor"] as string | null | undefined) ?? null;
    else if (typeof last === "string") cursors[cell] = last;
  }
  return { rows, cursors };
}

const rowsOf = (value: object, member: string): readonly Row[] =>
  ((value as Row)[member] as readonly Row[] | undefined) ?? [];

const limitOf = (query: URLSearchParams): number => Math.min(limitMax, Number(query.get("limit") ?? limitUsual));

export async function listed(reach: Reach, path: string, asking: Asking): Promise<Response> {
  const wanted = lists[path];
  if (wanted === undefined) throw new Error(`${path} is no list`);
  const { query } = asking;
  const before = query.has("cursor") ? readCursor(query.get("cursor") ?? "") : {};
  if (before === null) throw invalidField("?cursor", "must be the nextCursor of the page before");
  const open = [...reach.cells.keys()].filter((cell) => before[cell] !== null);
  const parts = new Map(open.map((cell) => [cell, { query: withFields(query, { cursor: before[cell] ?? null }) }]));
  const { answers, cellsAway, refusal } = await everyCell(reach, asking, parts);
  if (refusal !== null) return refusal;
  const { rows, cursors } = page(wanted, answers, { query, limit: limitOf(query), before });
  const isAway = (cell: string): boolean => cellsAway.some((one) => one.cell === cell);
  const isOver = [...reach.cells.keys()].every((cell) => cursors[cell] === null || isAway(cell));
  const rest = answers.length === 0 ? {} : wanted.rest(answers);
  return Response.json({
    [wanted.member]: rows,
    ...rest,
    nextCursor: isOver ? null : writeCursor(cursors),
    cellsAway,
  });
}

export function withFields(query: URLSearchParams, fields: Readonly<Record<string, string | null>>): URLSearchParams {
  const own = new URLSearchParams(query);
  for (const [name, value] of Object.entries(fields)) {
    if (value === null) own.delete(name);
    else own.set(name, value);
  }
  return own;
}

/** Schedules are numbered over all cells, those of one cell after another: a page begins at the number of its cursor. */
export async function outcomes(reach: Reach, asking: Asking): Promise<Response> {
  const { query } = asking;
  const start = Number(query.get("cursor") ?? 0);
  const limit = limitOf(query);
  // What is wrong with the query, and how many schedules each has.
  const asked = await everyCell(reach, asking);
  if (asked.refusal !== null) return asked.refusal;
  const found = asked.answers as readonly Said<ScheduleOutcomeListReply>[];
  const ends: number[] = [];
  for (const { value } of found) ends.push((ends.at(-1) ?? 0) + value.total);
  const parts = found.flatMap(({ cell, value }, at) => {
    const from = (ends[at] ?? 0) - value.total;
    const cursor = Math.max(0, start - from);
    const rows = Math.min(value.total - cursor, limit - Math.max(0, from - start));
    return rows > 0 ? [{ cell, cursor, rows, value }] : [];
  });
  const others = parts.filter(({ cursor }) => cursor !== start);
  const again: Pick<FromAll, "answers" | "cellsAway"> =
    others.length === 0
      ? { answers: [], cellsAway: [] }
      : await everyCell(
          reach,
          asking,
          new Map(others.map(({ cell, cursor }) => [cell, { query: withFields(query, { cursor: String(cursor) }) }])),
        );
  const schedules = parts.flatMap(({ cell, cursor, rows, value }) => {
    const own = cursor === start ? value : again.answers.find((one) => one.cell === cell)?.value;
    return rowsOf(own ?? {}, "schedules")
      .slice(0, rows)
      .map((row) => ({ ...row, cell }));
  });
  const total = ends.at(-1) ?? 0;
  return Response.json({
    schedules,
    total,
    isMore: found.some(({ value }) => value.isMore),
    nextCursor: start + limit < total ? String(start + limit) : null,
    cellsAway: [...asked.cellsAway, ...again.cellsAway],
  });
}
