import Table from "cli-table3";
import colors from "picocolors";
import { csv } from "../insight/csv.ts";
import type { CliError } from "./exit.ts";
import { relativeTime } from "./times.ts";

/** Where a command writes: results on stdout, everything else on stderr. */
export interface Output {
  /** With `--json`: `value`, one object. Else `text`, or nothing. */
  result(value: object, text: (() => string) | null): void;
  /** For people, cut to the terminal; on a pipe, tab-separated lines with one header. */
  table(head: readonly string[], rows: readonly (readonly string[])[]): string;
  /** An instant: for people how long ago, or in how long; on a pipe as it came. */
  time(instant: string | null): string;
  /** For the person waiting; never part of the result. */
  note(message: string): void;
  error(error: CliError): void;
  /** With `--json`, the error as the result; for one whose message was written already. */
  errorResult(error: CliError): void;
}

export interface Streams {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly isTerminal: boolean;
  /** Of the terminal; left out: as wide as it takes. */
  readonly columns?: number | undefined;
}

export function output(streams: Streams, json: boolean): Output {
  const errorResult = ({ code, message, details, exitCode }: CliError): void => {
    if (json) streams.out(`${JSON.stringify({ error: { code, message, details, exitCode } })}\n`);
  };
  return {
    result(value, text) {
      if (json) streams.out(`${jsonText(value, streams.isTerminal)}\n`);
      else if (text !== null) streams.out(`${text()}\n`);
    },
    table: (head, rows) => table(head, rows, streams),
    time: (instant) => (instant === null ? "" : streams.isTerminal ? relativeTime(instant, Date.now()) : instant),
    note: (message) => streams.err(`${message}\n`),
    error(error) {
      const lines = [`error: ${error.message}`, ...error.details.map((detail) => `  ${detail}`)];
      streams.err(`${lines.join("\n")}\n`);
      errorResult(error);
    },
    errorResult,
  };
}

const jsonText = (value: object, isTerminal: boolean): string =>
  isTerminal ? printableJson(JSON.stringify(value)) : JSON.stringify(value);

function table(
  names: readonly string[],
  cells: readonly (readonly string[])[],
  { isTerminal, columns = Infinity }: Streams,
): string {
  const whole = cells.map((row) => row.map(printable));
  if (!isTerminal) return [names, ...whole].map((row) => row.join("\t")).join("\n");
  const { head, rows, left } = fitColumns(names, whole, columns);
  const drawn = new Table({
    head: head.map((name) => colors.bold(name)),
    style: { head: [], border: colors.isColorSupported ? ["dim"] : [], compact: true },
  });
  drawn.push(...rows.map((row) => row.map((text, column) => (head[column] === "STATE" ? coloredState(text) : text))));
  const note = left.length === 0 ? "" : `\n${colors.dim(`no room for ${left.join(", ")}`)}`;
  return `${drawn.toString()}${note}`;
}

const stateColors: Readonly<Record<string, (text: string) => string>> = {
  SUCCESS: colors.green,
  FAILED: colors.red,
  RUNNING: colors.cyan,
  RETRY_WAIT: colors.yellow,
  CANCELED: colors.dim,
  SKIPPED: colors.dim,
};

const coloredState = (state: string): string => (stateColors[state] ?? String)(state);

/** What nothing in it steers, where a terminal shows it. */
export const shownCsv = (
  [head, rows]: readonly [readonly string[], readonly (readonly string[])[]],
  { isTerminal }: Pick<Streams, "isTerminal">,
): string => csv(head, isTerminal ? rows.map((row) => row.map(printable)) : rows);

/** Stored text must not steer the terminal: a control character, or one that turns the direction, is shown as its code. */
export const printable = (text: string): string =>
  text.replaceAll(unsafe, (character) => `\\x${hexOf(character).padStart(2, "0")}`);

/** JSON escapes controls but not these, which a terminal obeys as well. */
export const printableJson = (json: string): string =>
  json.replaceAll(unsafe, (text) => `\\u${hexOf(text).padStart(4, "0")}`);

const unsafe = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;
const hexOf = (character: string): string => (character.codePointAt(0) ?? 0).toString(16);

/** What a command may use of the world. */
export interface World {
  readonly streams: Streams;
  readonly env: NodeJS.ProcessEnv;
  /** Where the command was started. */
  readonly folder: string;
  /** Aborted by Ctrl-C; left out: nothing interrupts. */
  readonly interrupted?: AbortSignal;
}

const narrowest = 10;
/** Two borders, and the space beside each cell. */
const frameOf = (cells: number): number => cells * 3 + 1;

type Rows = readonly (readonly string[])[];

/**
 * A table no wider than the terminal. The first column names the row, so it stays whole; of the others the widest gives way
 * first, and where all are narrow the last ones are `left` out.
 */
export function fitColumns(
  names: readonly string[],
  cells: Rows,
  columns: number,
): { readonly head: readonly string[]; readonly rows: Rows; readonly left: readonly string[] } {
  const whole = names.map((name, index) => Math.max(widthOf(name), ...cells.map((row) => widthOf(row[index] ?? ""))));
  const least = whole.map((width, index) =>
    index === 0 ? width : Math.min(width, Math.max(narrowest, widthOf(names[index] ?? ""))),
  );
  let kept = names.length;
  while (kept > 2 && sum(least.slice(0, kept)) + frameOf(kept) > columns) kept -= 1;
  const widths = whole.slice(0, kept);
  for (let over = sum(widths) + frameOf(kept) - columns; over > 0; over -= 1) {
    const room = widths.map((width, index) => (width > (least[index] ?? 0) ? width : 0));
    const widest = room.indexOf(Math.max(...room));
    if (room[widest] === 0) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return {
    head: names.slice(0, kept),
    rows: cells.map((row) => row.slice(0, kept).map((text, index) => cut(text, widths[index] ?? text.length))),
    left: names.slice(kept),
  };
}

function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = "";
  for (const character of text) {
    if (widthOf(kept) + widthOf(character) > width - 1) break;
    kept += character;
  }
  return `${kept}…`;
}

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

/** Accents of their own, which the table counts as no cell; it counts other marks. */
const narrow = /[\u0300-\u036f]/;

/** Cells of a terminal that it takes: two for wide letters and emoji, none for an accent of its own. */
export const widthOf = (text: string): number =>
  [...text].reduce((total, each) => total + (narrow.test(each) ? 0 : wide.test(each) ? 2 : 1), 0);

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
