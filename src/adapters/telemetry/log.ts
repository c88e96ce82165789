import { Logger, LogFormatter, LogItem } from "@aws-lambda-powertools/logger";
import type { LogAttributes, UnformattedAttributes } from "@aws-lambda-powertools/logger/types";
import type { Log } from "../../core/ports.ts";

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
  return write(logger, options.fields ?? {});
}

/** JSON leaves these two as they are, and many readers of lines, Node's too, end a line there: text could forge one. */
const onOneLine = (text: string): string =>
  text.replaceAll("\u2028", String.raw`\u2028`).replaceAll("\u2029", String.raw`\u2029`);

const levelNames = { debug: "DEBUG", info: "INFO", warn: "WARN", error: "ERROR", silent: "SILENT" } as const;

/** Children share the logger and carry only their fields: a log per job must cost nothing until it writes. */
function write(logger: Logger, fields: Readonly<Record<string, unknown>>): Log {
  return {
    debug: (message, more) => logger.debug(message, { ...fields, ...more }),
    info: (message, more) => logger.info(message, { ...fields, ...more }),
    warn: (message, more) => logger.warn(message, { ...fields, ...more }),
    error: (message, more) => logger.error(message, { ...fields, ...more }),
    child: (more) => write(logger, { ...fields, ...more }),
  };
}

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
