/**
 * What the core needs from the world. Adapters implement these; a contract suite in `test/contract`
 * holds every implementation of a port to the same behaviour.
 */
import type { OutMessage } from "./outbox.ts";
import type { Instant } from "./job.ts";
import type { Launcher } from "./launcher.ts";
import type { Seals } from "./seal.ts";
import type { Store } from "./store.ts";

/** Time that passes. Monotonic: no decision reads a host's wall clock. */
export interface Clock {
  /** Milliseconds since an arbitrary start; never goes back. */
  elapsedMs(): number;
  /** Resolves after `ms`, or at once when the signal aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `run` once after `ms`; the returned function cancels it. */
  after(ms: number, run: () => void): () => void;
}

/** Chance, so that a seed can replay a run. */
export interface Random {
  /** In [0, 1). */
  next(): number;
  /** A fresh unique id of 16 bytes, hex. */
  id(): string;
}

export interface Log {
  debug(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
  /** A log whose every line also carries `fields`. */
  child(fields: Record<string, unknown>): Log;
}

export type MetricUnit = "Count" | "Milliseconds" | "Percent" | "Bytes";

export interface Metrics {
  /** `dimensions` are few and bounded: `job`, `lane`. */
  add(name: string, value: number, unit?: MetricUnit, dimensions?: Record<string, string>): void;
  /** Writes what was collected. */
  flush(): void;
}

export interface Tally {
  /** What the batches of one attempt did, however it ends. */
  countBatches(
    of: { readonly kind: string; readonly lane: string },
    done: { readonly processed: number; readonly succeeded: number; readonly failed: number },
  ): Promise<void>;
  /** Adds up the next events. @returns how many; fewer than `limit` means that none is left. */
  rollUp(limit: number): Promise<number>;
}

/** A named place in the code where a test may stop or kill the process. */
export type CrashPoint = (name: string) => Promise<void>;

export interface Queue {
  /**
   * Sends at most `contractLimits.sendBatchMax` messages of one lane in one call.
   * @returns the indexes that were not accepted. Throws when nothing is known.
   */
  send(lane: string, messages: readonly OutMessage[]): Promise<{ failed: readonly number[] }>;
  /** Approximate counts, as the queue service knows them. */
  depth(lane: string): Promise<{ visible: number; inFlight: number; delayed: number }>;
}

/** One lock item. `fence` only grows; the item is never deleted: release removes `owner`. */
export interface LockItem {
  readonly owner: string | null;
  /** Changes with every heartbeat: a watcher that sees it unchanged for a whole lease may take over. */
  readonly rvn: string;
  readonly fence: number;
  readonly leaseMs: number;
  /** How long watchers found the present `rvn` unchanged; 0 when none wrote it down. */
  readonly silentMs: number;
  /** When that was written, by the database's clock; null when it was not known, or none wrote it. */
  readonly seenAt: Instant | null;
}

/** Conditional writes on named lock items. Any method may throw when the outcome is unknown: read back, then decide. */
export interface LockStore {
  /** A consistent read. */
  read(name: string): Promise<LockItem | null>;
  /**
   * Takes the item if it has no owner, or if its `rvn` is still `overRvn`. Adds 1 to the fence.
   * @returns the new fence, or null when the condition failed.
   */
  take(
    name: string,
    next: { owner: string; rvn: string; leaseMs: number; overRvn: string | null },
  ): Promise<number | null>;
  /** Conditioned on owner and fence, not on the previous rvn: a lost reply must not lose the lock. */
  renew(name: string, owner: string, fence: number, rvn: string): Promise<boolean>;
  /** Removes `owner`; keeps the item and its fence. */
  release(name: string, owner: string, fence: number): Promise<boolean>;
  /** Sets the fence of the owner's item to `to` when it is smaller. */
  raise(name: string, owner: string, to: number): Promise<boolean>;
  /** Keeps how long, and when, a watcher found this `rvn` unchanged, if it still is the item's and less was known. */
  observe(name: string, seen: { rvn: string; silentMs: number; seenAt: Instant | null }): Promise<void>;
}

export interface SpanOf {
  readonly name: string;
  readonly kind: "producer" | "consumer" | "client" | "internal";
  /** Names are those of OpenTelemetry's semantic conventions for messaging, else `belfry.`. */
  readonly attributes: Readonly<Record<string, string | number>>;
  /** The span that it belongs under, as W3C `traceparent`; another text is not read. Default: the span that is open. */
  readonly parent?: string;
}

export interface Tracing {
  /** The span that is open, as W3C `traceparent`; null when none is. */
  parent(): string | null;
  /** Runs `work` under a new span, which ends with it. */
  span<T>(of: SpanOf, work: () => Promise<T>): Promise<T>;
  /** Of the open span, whose work answers instead of throwing. `type`: short and stable, as \`error.type\`. */
  fail(type: string, message: string): void;
}

/** The world as the verbs see it. */
export interface Ports {
  readonly store: Store;
  readonly queue: Queue;
  readonly locks: LockStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Left out where no test plans a crash. */
  readonly crashPoint?: CrashPoint;
  /** Of the lane, by name; undefined where there is none. Left out in tests without secrets. */
  readonly secret?: (name: string) => string | undefined;
  /** Left out where the stage has no key to seal with. */
  readonly seals?: Seals | undefined;
  /** Counts kept as rows, because unflushed metrics are lost with their process. Left out where nothing reads them. */
  readonly tally?: Pick<Tally, "countBatches">;
  /** Left out where the project traces nothing. */
  readonly tracing?: Tracing;
  /** Left out where Fargate jobs run in their worker, and in their tasks. */
  readonly launcher?: Launcher;
  /** How many tasks of the scheduler itself run since before this instant. Only for the scheduler, and 0 outside of ECS. */
  readonly schedulerTasksSince?: (before: Instant) => Promise<number>;
}
