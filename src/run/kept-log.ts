import { cleanText } from "../machine/clean.ts";
import { failureDetailLimits } from "../machine/failure-detail.ts";
import type { LoggedLine } from "../machine/job.ts";
import type { Clock, Log } from "../machine/ports.ts";

interface Line {
  readonly atMs: number;
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  readonly fields: Record<string, unknown> | undefined;
}

/** The last lines of one attempt. They become text only if it fails. */
export class KeptLog {
  readonly #clock: Pick<Clock, "elapsedMs">;
  readonly #startedMs: number;
  #kept: Line[] | null = null;

  constructor(clock: Pick<Clock, "elapsedMs">, startedMs: number) {
    this.#clock = clock;
    this.#startedMs = startedMs;
  }

  /** Writes to the log that `open` gives at the first line, and keeps the line. */
  over(open: () => Log): Log {
    let opened: Log | null = null;
    const log = (): Log => (opened ??= open());
    const write = (level: Line["level"], message: string, fields: Line["fields"]): void => {
      this.#keep({ atMs: Math.max(0, Math.round(this.#clock.elapsedMs() - this.#startedMs)), level, message, fields });
      log()[level](message, fields);
    };
    return {
      debug: (message, fields) => write("debug", message, fields),
      info: (message, fields) => write("info", message, fields),
      warn: (message, fields) => write("warn", message, fields),
      error: (message, fields) => write("error", message, fields),
      child: (fields) => this.over(() => log().child(fields)),
    };
  }

  lines(): readonly LoggedLine[] {
    const kept = this.#kept ?? [];
    return kept.map(({ atMs, level, message, fields }) => ({ atMs, level, text: textOf(message, fields) }));
  }

  #keep(line: Line): void {
    this.#kept ??= [];
    if (this.#kept.push(line) > failureDetailLimits.logLinesMax) this.#kept.shift();
  }
}

/** Fields may be anything that a handler has at hand; what cannot be text must not cost the attempt its outcome. */
function textOf(message: string, fields: Line["fields"]): string {
  try {
    return cleanText(`${message} ${fieldsText(fields)}`.trimEnd(), failureDetailLimits.logLineCharactersMax);
  } catch {
    return "a line that has no text";
  }
}

function fieldsText(fields: Line["fields"]): string {
  if (fields === undefined) return "";
  try {
    return JSON.stringify(fields, (_, value: unknown) => plain(value));
  } catch {
    return "(fields that JSON cannot say)";
  }
}

const plain = (value: unknown): unknown =>
  value instanceof Error ? value.message : typeof value === "bigint" ? String(value) : value;
