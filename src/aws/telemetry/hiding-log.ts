import type { Log } from "../../machine/ports.ts";

/** What of a line may quote a payload. */
const texts = ["error", "reason", "problem", "message"] as const;

/**
 * A log whose lines about a kind that marks a part of its payload as sensitive have no error texts, which may quote it. What a
 * handler logs by itself stays: its log is a child that names the kind.
 */
export function hidingLog(log: Log, hides: (kind: string) => boolean): Log {
  const line =
    (level: "debug" | "info" | "warn" | "error"): Log["info"] =>
    (message, fields) =>
      log[level](message, fields === undefined ? fields : shownOf(fields, hides));
  return {
    debug: line("debug"),
    info: line("info"),
    warn: line("warn"),
    error: line("error"),
    child: (fields) => ("kind" in fields ? log.child(fields) : hidingLog(log.child(fields), hides)),
  };
}

function shownOf(fields: Record<string, unknown>, hides: (kind: string) => boolean): Record<string, unknown> {
  const { kind } = fields;
  if (typeof kind !== "string" || !hides(kind)) return fields;
  const hidden = texts.filter((name) => fields[name] !== undefined && fields[name] !== null);
  return { ...fields, ...Object.fromEntries(hidden.map((name) => [name, "[hidden]"])) };
}
