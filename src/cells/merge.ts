/** How the answers of several cells become one. */
import type { Json } from "../core/job/job.ts";

export type Row = Readonly<Record<string, Json>>;

/** What one cell answered. */
export interface Answered {
  readonly cell: string;
  readonly body: Row;
}

const isRow = (value: Json | undefined): value is Row =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const rowsOf = (value: Json | undefined): readonly Row[] => (Array.isArray(value) ? value.filter(isRow) : []);
const numberOf = (value: Json | undefined): number => (typeof value === "number" ? value : 0);
const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "");

/** Numbers add up, lists follow one another, one true is true; of texts the first stands. */
export function added(values: readonly (Json | undefined)[]): Json {
  const there = values.filter((value) => value !== null && value !== undefined);
  const [first] = there;
  if (first === undefined) return null;
  if (typeof first === "number") return there.reduce<number>((sum, value) => sum + numberOf(value), 0);
  if (typeof first === "boolean") return there.includes(true);
  if (Array.isArray(first)) return there.flatMap((value) => (Array.isArray(value) ? value : []));
  if (!isRow(first)) return first;
  const rows = there.filter(isRow);
  const names = new Set(rows.flatMap((row) => Object.keys(row)));
  return Object.fromEntries([...names].map((name) => [name, added(rows.map((row) => row[name]))]));
}

const addedRow = (rows: readonly (Json | undefined)[]): Row => {
  const sum = added(rows);
  return isRow(sum) ? sum : {};
};

/** The largest of the numbers; null when there is none. */
const largest = (values: readonly (Json | undefined)[]): number | null => {
  const numbers = values.filter((value) => typeof value === "number");
  return numbers.length === 0 ? null : Math.max(...numbers);
};

/** Rows with the same name are one, added up by `join`; the others stay. */
function grouped(rows: readonly Row[], name: string, join: (same: readonly Row[]) => Row = addedRow): readonly Row[] {
  return [...Map.groupBy(rows, (row) => row[name])].map(([value, same]) => ({ ...join(same), [name]: value ?? null }));
}

/** The mean run time of several, each weighted with the attempts that ended. */
function meanRun(rows: readonly Row[]): number | null {
  const ended = (row: Row): number => numberOf(row["succeeded"]) + numberOf(row["failed"]) + numberOf(row["retried"]);
  const attempts = rows.reduce((sum, row) => sum + ended(row), 0);
  const total = rows.reduce((sum, row) => sum + ended(row) * numberOf(row["meanRunMs"]), 0);
  return attempts === 0 ? null : total / attempts;
}

const figures = (rows: readonly Row[]): Row => ({ ...addedRow(rows), meanRunMs: meanRun(rows) });
const minutes = (rows: readonly Row[]): Row[] =>
  grouped(rows, "at", figures).toSorted((a, b) => (textOf(a["at"]) < textOf(b["at"]) ? -1 : 1));

/** With the name of its cell in each row of a list. */
export const marked = ({ cell, body }: Answered, member: string): readonly Row[] =>
  rowsOf(body[member]).map((row) => ({ ...row, cell }));

const newest = (rows: readonly Row[], by: string, limit: number): Row[] =>
  rows.toSorted((a, b) => (textOf(a[by]) < textOf(b[by]) ? 1 : -1)).slice(0, limit);

function mergedSummary(all: readonly Answered[]): Row {
  const bodies = all.map(({ body }) => body);
  const part = (name: string): readonly Row[] => bodies.map((body) => body[name]).filter(isRow);
  const live = part("live");
  const passes = part("lastPass").toSorted((a, b) => numberOf(b["ageMs"]) - numberOf(a["ageMs"]));
  const lanes = part("lanes");
  return {
    ...addedRow(bodies),
    live: {
      ...addedRow(live),
      atLeast: [...new Set(live.flatMap((each) => (Array.isArray(each["atLeast"]) ? each["atLeast"] : [])))],
      oldestWaitingMs: largest(live.map((each) => each["oldestWaitingMs"])),
    },
    lastHour: figures(part("lastHour")),
    lanes: { total: largest(lanes.map(({ total }) => total)), paused: largest(lanes.map(({ paused }) => paused)) },
    // The one that is the furthest behind.
    lastPass: passes[0] ?? null,
    lastFailures: newest(
      all.flatMap((each) => marked(each, "lastFailures")),
      "finishedAt",
      5,
    ),
    minutes: bodies.some(({ minutes: own }) => Array.isArray(own))
      ? minutes(bodies.flatMap((body) => rowsOf(body["minutes"])))
      : null,
  };
}

function mergedLanes(all: readonly Answered[]): Row {
  const lanes = grouped(
    all.flatMap(({ body }) => rowsOf(body["lanes"])),
    "name",
    (same) => ({
      ...addedRow(same),
      atLeast: [...new Set(same.flatMap((each) => (Array.isArray(each["atLeast"]) ? each["atLeast"] : [])))],
      batchSize: same[0]?.["batchSize"] ?? null,
      oldestWaitingMs: largest(same.map((each) => each["oldestWaitingMs"])),
    }),
  );
  const caps = grouped(
    all.flatMap(({ body }) => rowsOf(body["caps"])),
    "key",
  );
  const workers = all.flatMap((each) => marked(each, "workers"));
  return { lanes: [...lanes], caps: [...caps], workers, isMore: all.some(({ body }) => body["isMore"] === true) };
}

function mergedGroups(all: readonly Answered[]): Row {
  const groups = grouped(
    all.flatMap(({ body }) => rowsOf(body["groups"])),
    "fingerprint",
    (same) => {
      const latest = newest(same, "lastAt", 1)[0] ?? {};
      const first = same.map(({ firstAt }) => textOf(firstAt)).toSorted()[0] ?? "";
      return { ...addedRow(same), ...latest, jobs: added(same.map(({ jobs }) => jobs)), firstAt: first };
    },
  );
  return { groups: newest(groups, "lastAt", groups.length), isMore: all.some(({ body }) => body["isMore"] === true) };
}

/** By path: what is one answer of all cells without pages. */
export const merges: Readonly<Record<string, (all: readonly Answered[]) => Row>> = {
  "/summary": mergedSummary,
  "/throughput": (all) => ({ minutes: minutes(all.flatMap(({ body }) => rowsOf(body["minutes"]))) }),
  "/jobs/counts": (all) => addedRow(all.map(({ body }) => body)),
  "/lanes": mergedLanes,
  "/dead-letters": mergedGroups,
  "/kinds": (all) => ({
    kinds: [
      ...grouped(
        all.flatMap(({ body }) => rowsOf(body["kinds"])),
        "id",
        (same) => same[0] ?? {},
      ),
    ],
  }),
  "/locks": (all) => ({
    locks: all.flatMap((each) => [...marked(each, "locks")]),
    jobLocks: all.flatMap((each) => [...marked(each, "jobLocks")]),
  }),
};

/** A list that comes in pages. */
export interface List {
  readonly member: string;
  /** The field that the rows of each cell are in the order of. */
  readonly by: (query: URLSearchParams) => { readonly field: string; readonly isUp: boolean };
}

const newestFirst =
  (field: string): List["by"] =>
  () => ({ field, isUp: false });

export const lists: Readonly<Record<string, List>> = {
  "/jobs": {
    member: "jobs",
    by: (query) =>
      query.get("sort") === "due"
        ? { field: "dueAt", isUp: true }
        : { field: "createdAt", isUp: query.get("sort") === "oldest" },
  },
  "/runs": { member: "runs", by: newestFirst("createdAt") },
  "/audits": { member: "audits", by: newestFirst("at") },
  "/bulk": { member: "bulks", by: newestFirst("createdAt") },
  "/schedule-outcomes": { member: "schedules", by: () => ({ field: "id", isUp: true }) },
  "/schedules": { member: "schedules", by: () => ({ field: "id", isUp: true }) },
};

/** Where each cell's list goes on; null: it has ended. A cell that is missing begins. */
export type Cursors = Readonly<Record<string, string | null>>;

const cursorCharactersMax = 8_192;

export const writeCursor = (cursors: Cursors): string => Buffer.from(JSON.stringify(cursors)).toString("base64url");

/** @returns null for what is no cursor of a front. */
export function readCursor(text: string): Cursors | null {
  if (text.length > cursorCharactersMax) return null;
  try {
    const value = JSON.parse(Buffer.from(text, "base64url").toString()) as Json;
    const isFit = isRow(value) && Object.values(value).every((each) => each === null || typeof each === "string");
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
  { member, by }: List,
  all: readonly Answered[],
  { query, limit, before }: { query: URLSearchParams; limit: number; before: Cursors },
): { readonly rows: readonly Row[]; readonly cursors: Cursors } {
  const { field, isUp } = by(query);
  const sorted = all
    .flatMap((each) => [...marked(each, member)])
    .toSorted(
      (a, b) =>
        (textOf(a[field]) < textOf(b[field]) ? -1 : textOf(a[field]) > textOf(b[field]) ? 1 : 0) * (isUp ? 1 : -1),
    );
  const isById = field === "createdAt" || field === "at";
  const rows = isById ? sorted.slice(0, limit) : sorted;
  const cursors: Record<string, string | null> = { ...before };
  for (const { cell, body } of all) {
    const taken = rows.filter((row) => row["cell"] === cell);
    const isWhole = taken.length === rowsOf(body[member]).length;
    const last = taken.at(-1)?.["id"];
    if (isWhole) cursors[cell] = typeof body["nextCursor"] === "string" ? body["nextCursor"] : null;
    else if (typeof last === "string") cursors[cell] = last;
  }
  return { rows, cursors };
}
