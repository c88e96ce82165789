import { okOr, rowsTable } from "../table.ts";
import type { Mark } from "./soak.ts";

/** At the end beside the first mark: more is growth. */
const endRatioMax = 1.2;
/** A table below it comes and goes with each vacuum: what one nap leaves of leases and batches. */
const smallBytes = 8 * 1024 * 1024;

export interface SoakVerdict {
  readonly name: string;
  readonly first: number;
  readonly end: number;
  readonly ratio: number;
  readonly pass: boolean;
}

/** The size of each hot table and the p99 of a claim: those of the last 100,000 jobs beside those of the first. */
export function soakVerdicts(marks: readonly Mark[]): readonly SoakVerdict[] {
  const [first, last] = [marks[0], marks.at(-1)];
  if (first === undefined || last === undefined) return [];
  const verdict = (name: string, from: number, to: number, least = 1): SoakVerdict => {
    const ratio = to / Math.max(least, from);
    return { name, first: from, end: to, ratio, pass: ratio <= endRatioMax };
  };
  const sizes = Object.entries(first.tables).map(([name, size]) =>
    verdict(`bytes of ${name}`, size, last.tables[name] ?? 0, smallBytes),
  );
  return [...sizes, verdict("p99 of a claim, ms", first.claimMs.p99, last.claimMs.p99)];
}

/** At most this many lines; a longer soak shows every second, third ... mark, and always the last. */
const shownMarksMax = 40;

/** Two pages: an index that is never larger has no column. */
const emptyBytesMax = 2 * 8_192;

const head = ["jobs", "jobs/s", "claim p50", "p99 ms", "settle p50", "p99 ms", "WAL B", "kept", "dead"];

/** The table for people: the marks, then the bars. */
export const soakTable = (marks: readonly Mark[]): string => `${marksTable(marks)}\n${barsTable(marks)}`;

function marksTable(marks: readonly Mark[]): string {
  const step = Math.ceil(marks.length / shownMarksMax);
  const shown = marks.filter((_, n) => n === 0 || n === marks.length - 1 || n % step === 0);
  const objects = Object.keys(marks[0]?.ofJob ?? {}).filter((name) =>
    marks.some(({ ofJob }) => (ofJob[name] ?? 0) > emptyBytesMax),
  );
  const tables = Object.keys(marks[0]?.tables ?? {});
  return rowsTable(
    [...head, ...objects.map((name) => `${name} MB`), ...tables.map((name) => `all of ${name} MB`)],
    shown.map((mark) => [
      mark.jobs.toLocaleString("en-US"),
      Math.round(mark.perSecond),
      ...[mark.claimMs, mark.settleMs].flatMap(({ p50, p99 }) => [p50.toFixed(1), p99.toFixed(1)]),
      Math.round(mark.walBytesPerJob),
      mark.kept,
      mark.deadRows,
      ...objects.map((name) => megabytes(mark.ofJob[name])),
      ...tables.map((name) => megabytes(mark.tables[name])),
    ]),
  );
}

const barsTable = (marks: readonly Mark[]): string =>
  rowsTable(
    ["bar", "first", "end", "ratio", ""],
    soakVerdicts(marks).map(({ name, first, end, ratio, pass }) => [
      name,
      Math.round(first).toLocaleString("en-US"),
      Math.round(end).toLocaleString("en-US"),
      `${ratio.toFixed(2)} x, at most ${endRatioMax}`,
      okOr(pass),
    ]),
  );

const megabytes = (bytes = 0): string => (bytes / 2 ** 20).toFixed(1);
