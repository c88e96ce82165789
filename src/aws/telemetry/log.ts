import { Logger, LogFormatter, LogItem } from "@aws-lambda-powertools/logger";
import type { LogAttributes, UnformattedAttributes } from "@aws-lambda-powertools/logger/types";
import type { Log } from "../../machine/ports.ts";

export const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

export interface LogOptions {
  /** What this process is: `worker`, `scheduler` ... */
  readonly service: string;
  readonly level: LogLevel;
  /** In every line: stage, lane, worker. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** One JSON line each: level, message, timestamp in UTC, service and fields. Payloads are never among them unless a handler logs its own. */
export function createLog(options: LogOptions): Log {
  const logger = new Logger({
    serviceName: options.service,
    logLevel: levelNames[options.level],
    logFormatter: new UtcFormatter(),
    jsonReplacerFn: (_, value) => (typeof value === "string" ? onOneLine(value) : value),
  });
  return write(logger, logLevels.indexOf(options.level), options.fields ?? {});
}

/** JSON does not escape these two, and many line readers, also Node's, end a line there: text could forge a line. */
const onOneLine = (text: string): string =>
  text.replaceAll("\u2028", String.raw`\u2028`).replaceAll("\u2029", String.raw`\u2029`);

const levelNames = { debug: "DEBUG", info: "INFO", warn: "WARN", error: "ERROR", silent: "SILENT" } as const;

/**
 * Children share the logger and have only their fields: a log for each job must cost nothing until it writes. The level is
 * checked here, because the logger would read the environment for each line first.
 */
function write(logger: Logger, lowest: number, fields: Readonly<Record<string, unknown>>): Log {
  const line = (level: Exclude<LogLevel, "silent">): Log["info"] =>
    logLevels.indexOf(level) < lowest ? () => {} : (message, more) => logger[level](message, { ...fields, ...more });
  return { ...linesOf(line), child: (more) => write(logger, lowest, { ...fields, ...more }) };
}

const linesOf = (line: (level: Exclude<LogLevel, "silent">) => Log["info"]): Omit<Log, "child"> => ({
  debug: line("debug"),
  info: line("info"),
  warn: line("warn"),
  error: line("error"),
});

class UtcFormatter extends LogFormatter {
  override formatAttributes(attributes: UnformattedAttributes, more: LogAttributes): LogItem {
    const { logLevel: level, message, timestamp, serviceName: service, xRayTraceId } = attributes;
    const base = {
      level,
      message,
      timestamp: timestamp.toISOString(),
      service,
      ...(xRayTraceId ? { xray_trace_id: xRayTraceId } : {}),
    };
    return new LogItem({ attributes: base }).addAttributes(more);
  }
}

/** What of a line may quote a payload. */
const texts = ["error", "reason", "problem", "message"] as const;

/**
 * A log whose lines about a kind that marks a part of its payload as sensitive have no error texts, which may quote it. What a
 * handler logs by itself stays: its log is a child that names the kind.
 */
export function hidingLog(log: Log, hides: (kind: string) => boolean): Log {
  return {
    ...linesOf(
      (level) => (message, fields) => log[level](message, fields === undefined ? fields : shownOf(fields, hides)),
    ),
    child: (fields) => ("kind" in fields ? log.child(fields) : hidingLog(log.child(fields), hides)),
  };
}

function shownOf(fields: Record<string, unknown>, hides: (kind: string) => boolean): Record<string, unknown> {
  const { kind } = fields;
  if (typeof kind !== "string" || !hides(kind)) return fields;
  const hidden = texts.filter((name) => fields[name] !== undefined && fields[name] !== null);
  return { ...fields, ...Object.fromEntries(hidden.map((name) => [name, "[hidden]"])) };
}
