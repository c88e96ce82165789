import colors from "picocolors";
import { minuteMs } from "../machine/units.ts";
import { printable, printableJson } from "../cli/output.ts";
import { amountOf } from "../cli/text.ts";
import type { LocalEvent, LocalSystem } from "./system.ts";

/** Shows what happens in the system: lines, and one live line at the end of a terminal. */
export interface Screen {
  started(system: LocalSystem, about: { ms: number; portNote: string | null }): void;
  event(event: LocalEvent): void;
  live(line: string): void;
  note(text: string): void;
  close(): void;
}

const clearLine = "\u001B[2K\r";

/** Without a terminal the live line is written as a line when it changed, at most every 5 seconds. */
export function humanScreen(out: NodeJS.WriteStream): Screen {
  const isTerminal = out.isTTY;
  let live = "";
  let writtenAt = -Infinity;
  const note = (text: string): void => {
    out.write(isTerminal ? `${clearLine}${text}\n${live}` : `${text}\n`);
  };
  return {
    note,
    live(line) {
      if (line === live) return;
      if (isTerminal) out.write(`${clearLine}${fit(line, out.columns)}`);
      else if (performance.now() - writtenAt > 5_000) {
        out.write(`${line}\n`);
        writtenAt = performance.now();
      } else return;
      live = isTerminal ? fit(line, out.columns) : line;
    },
    started: (system, about) => startedLines(system, about).forEach(note),
    event(event) {
      const text = eventText(event);
      if (text !== null) note(text);
    },
    close: () => void (isTerminal && out.write(clearLine)),
  };
}

/** One JSON object a line. */
export function jsonScreen(out: NodeJS.WriteStream): Screen {
  const write = (value: object): void => void out.write(`${printableJson(JSON.stringify(value))}\n`);
  return {
    note: (text) => write({ is: "note", text }),
    live: (text) => write({ is: "status", text }),
    started: ({ urls, setup, home }, { ms }) =>
      write({
        is: "started",
        ms: Math.round(ms),
        home,
        urls: { ...urls, database: withoutPassword(urls.database) },
        jobs: setup.jobs,
        schedules: setup.schedules,
        requeued: setup.requeued,
        differences: setup.differences,
      }),
    event(event) {
      if (event.is !== "line") write(event.is === "problem" ? { ...event, error: messageOf(event.error) } : event);
    },
    close: () => {},
  };
}

function startedLines(
  { urls, setup, home }: LocalSystem,
  { ms, portNote }: { ms: number; portNote: string | null },
): string[] {
  const lanes = setup.topology.lanes.map(({ name }) => name).join(", ");
  const row = (what: string, where: string): string => `  ${what.padEnd(10)} ${colors.cyan(where)}`;
  return [
    `${colors.bold("Belfry is running")}, stage ${setup.topology.stage}, ready in ${(ms / 1_000).toFixed(1)} s`,
    ...(urls.api === null ? [] : [row("Console", `${urls.api}/console/`), row("API", urls.api)]),
    row("Postgres", urls.database),
    row("SQS", urls.sqs),
    row("DynamoDB", urls.dynamodb),
    row("Mail", `${urls.mail} (kept in ${home}/mail)`),
    `  ${amountOf(setup.jobs, "job")}, ${amountOf(setup.schedules, "schedule")}; lanes: ${lanes}; logs in ${home}/log`,
    ...setup.differences.map((difference) => `  ${difference}`),
    ...(setup.requeued > 0
      ? [`  ${setup.requeued} jobs waited in the queue of the last run: their messages are sent again`]
      : []),
    ...(setup.clockAheadMs > minuteMs
      ? [
          `  The database's clock is ${Math.round(setup.clockAheadMs / minuteMs)} min ahead, where a faster run left it: delete ${home} for a fresh one`,
        ]
      : []),
    ...(portNote === null ? [] : [`  ${portNote}`]),
    `  Edit ${setup.edit} and save: the next run shows it. Ctrl-C stops everything.`,
  ];
}

/** Handlers' own lines at info and above, and everything that went wrong; the rest is in the log files. */
function eventText(event: LocalEvent): string | null {
  if (event.is === "reloaded") return colors.green(`${event.file} was saved: new runs use it`);
  if (event.is === "debugger") return `${colors.dim(event.from)} a debugger may attach to 127.0.0.1:${event.port}`;
  if (event.is === "still")
    return `${colors.dim(event.from)} process ${event.pid} stands still, as at a breakpoint: its jobs stay its own until it goes on`;
  if (event.is === "leftovers") return `ended what an earlier start left behind: ${event.names.join(", ")}`;
  if (event.is === "problem")
    return `${colors.red(event.from)} ${event.what}: ${printableLines(messageOf(event.error))}`;
  return lineText(event.line, event.from);
}

function lineText(line: string, from: string): string | null {
  if (!line.startsWith("{")) return `${colors.dim(from)} ${printable(line)}`;
  const entry = parse(line);
  if (entry === null || entry["_aws"] !== undefined || entry["report"] !== undefined) return null;
  const { level, message, timestamp, service, stage: _, lane, error, trace: __, ...rest } = entry;
  const time = typeof timestamp === "string" ? timestamp.slice(11, 19) : "";
  const fields = Object.entries(rest)
    .map(([name, value]) => `${printable(name)}=${short(value)}`)
    .join(" ");
  const why =
    typeof error === "object" && error !== null && "message" in error
      ? ` ${colors.red(printable(String(error.message)))}`
      : "";
  return `${colors.dim(`${time} ${short(lane ?? service ?? from)}`)} ${tint(level)(printable(String(message)))} ${colors.dim(fields)}${why}`;
}

const tint = (level: unknown): ((text: string) => string) =>
  level === "ERROR" ? colors.red : level === "WARN" ? colors.yellow : (text) => text;

function short(value: unknown): string {
  const text = printable(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`;
}

function parse(line: string): Record<string, unknown> | null {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return null;
  }
}

const printableLines = (text: string): string => text.split("\n").map(printable).join("\n");
const fit = (line: string, columns: number | undefined): string => line.slice(0, Math.max(20, (columns || 120) - 1));
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
const withoutPassword = (url: string): string => url.replace(/\/\/([^:/@]*):[^@]*@/, "//$1:***@");
