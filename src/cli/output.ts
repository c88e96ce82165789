import Table from "cli-table3";
import colors from "picocolors";
import type { CliError } from "./exit.ts";
import { fitted } from "./fitted.ts";
import { printable, printableJson } from "./printable.ts";
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
  const { head, rows, left } = fitted(names, whole, columns);
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

/**
 * For spreadsheets (RFC 4180). They run what begins with = + - or @, so an apostrophe goes before it; line breaks and quotes
 * stay inside their cell.
 */
export function csv(head: readonly string[], rows: readonly (readonly string[])[], isTerminal = false): string {
  const safe = isTerminal ? rows.map((row) => row.map(printable)) : rows;
  return [head, ...safe].map((row) => row.map(cell).join(",")).join("\r\n");
}

function cell(text: string): string {
  const inert = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n\t]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}
