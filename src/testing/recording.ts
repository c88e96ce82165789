import type { Log, Metrics } from "../machine/ports.ts";

/** One line that a handler, or Belfry, wrote to its log. @beta */
export interface LogLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** One value that a handler, or Belfry, counted. @beta */
export interface Metric {
  readonly name: string;
  readonly value: number;
  readonly dimensions: Readonly<Record<string, string>>;
}

export function recordingLog(lines: LogLine[], common: Readonly<Record<string, unknown>> = {}): Log {
  const write =
    (level: LogLine["level"]) =>
    (message: string, fields: Record<string, unknown> = {}): void =>
      void lines.push({ level, message, fields: { ...common, ...fields } });
  return {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    child: (fields) => recordingLog(lines, { ...common, ...fields }),
  };
}

export const recordingMetrics = (values: Metric[]): Metrics => ({
  add: (name, value, _, dimensions = {}) => void values.push({ name, value, dimensions }),
  flush: () => {},
});
