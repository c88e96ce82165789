import type { Instant, JobId } from "./job.ts";
import type { Message } from "./outbox.ts";

/** When jobs of a kind, or of kinds that call the same target, wait because it is down. */
export interface CircuitRule {
  readonly name: string;
  /** A regular expression of JavaScript and of Postgres: error codes that count. */
  readonly pattern: string;
  /** Only failures of one code count together: those of the most frequent one. */
  readonly alike: boolean;
  /** Of the ends in `overMs`, of which there are at least `minimum`, the share with such a code: it opens. */
  readonly share: number;
  readonly overMs: number;
  readonly minimum: number;
  /** Until a probe. */
  readonly pauseMs: number;
}

/** Attempts that ended. `code`: one of the circuit's, or "". */
export interface CircuitCount {
  readonly name: string;
  readonly code: string;
  readonly ends: number;
}

export interface OpenCircuit {
  readonly name: string;
  readonly ended: number;
  readonly failed: number;
  /** That of most failures. */
  readonly code: string;
  /** When one job is let through. */
  readonly until: Instant;
}

export interface HoldingCircuit extends Omit<OpenCircuit, "until"> {
  /** Null: it is closed again. */
  readonly until: Instant | null;
  readonly probe: JobId | null;
}

/** `probe`: a held job was chosen. `open`: the probe failed by a code of the circuit. `close`: it ended otherwise. */
export interface CircuitMove {
  readonly name: string;
  readonly move: "probe" | "open" | "close";
}

export interface CircuitStore {
  /** The names of the open ones. */
  openCircuits(): Promise<readonly string[]>;
  /** QUEUED under that generation, of a kind whose circuit is open, and not its probe -> PENDING, on hold. @returns the held ids. */
  holdForCircuits(
    messages: readonly Message[],
    kinds: readonly { readonly kind: string; readonly circuit: string }[],
  ): Promise<readonly JobId[]>;
  /** Adds to the counts of this second. */
  countForCircuits(counts: readonly CircuitCount[], options: { readonly worker: string }): Promise<void>;
  /** Opens those of these that are closed and whose counts reach the share. */
  judgeCircuits(rules: readonly CircuitRule[]): Promise<readonly OpenCircuit[]>;
  /**
   * Takes the next `n` times of each budget: `share` of the first attempts in the last minute, and ten, are apart evenly. `endsMs`: when the
   * last of them is over.
   */
  spaceRetries(
    budgets: readonly { readonly name: string; readonly n: number; readonly share: number }[],
  ): Promise<readonly { readonly name: string; readonly endsMs: number; readonly everyMs: number }[]>;
  /**
   * Of the open circuits whose pause is over: one held job is let through, once; its end opens the circuit again or closes it. `rules`
   * are all: others are closed.
   */
  probeCircuits(rules: readonly CircuitRule[]): Promise<readonly CircuitMove[]>;
  /** Of each closed circuit a page of held jobs may start again, the earliest due first; the next page is twice as large. @returns how many. */
  releaseForCircuits(): Promise<number>;
}

export const circuitLimits = {
  /** What a worker knows of open circuits may be so old. */
  circuitLookMs: 1_000,
  /** How long a worker gathers ends before it writes them. */
  circuitCountMs: 500,
  /** Held jobs that a pass releases of a closed circuit, at most: it begins with 10 and doubles. */
  circuitPageMax: 1_000,
  /** Retries a minute that a budget lets go at least. */
  retriesFloor: 10,
} as const;
