import { setTimeout as wait } from "node:timers/promises";
import type { Successor } from "../process/ready-child.ts";
import type { Sandbox } from "./sandbox.ts";

export interface SandboxPoolOptions {
  /** @param code of `ChildOptions`. */
  readonly create: (code?: string) => Sandbox;
  readonly max: number;
  /** How long one is kept that runs nothing. Default: two minutes. */
  readonly unusedMs?: number;
  /** A sandbox could not be started, usually because a file of the jobs cannot be imported. */
  readonly onBroken: (error: Error) => void;
}

/**
 * A process costs memory and half a second of CPU, so another one starts only when messages waited this long for one that is idle:
 * the sum of their waits, less the time in between. Each of many short batches waits for less, and would never start it.
 */
const busyMs = 250;
const brokenMs = 5_000;
const retireMs = 5_000;
/** Longer than a minute: what runs every minute keeps its process. */
const unusedMs = 120_000;

/** The sandboxes of one function: at most `max`, reused, replaced when they ended or their code changed. */
export class SandboxPool {
  readonly #options: SandboxPoolOptions;
  /** From the one that is unused for longest to the one that ran last. */
  readonly #idle: Sandbox[] = [];
  readonly #ranAtMs = new WeakMap<Sandbox, number>();
  readonly #all = new Set<Sandbox>();
  readonly #stale = new WeakSet<Sandbox>();
  /** By the process's own time: no sandbox is started before it. */
  #restMs = 0;
  #waitedMs = 0;
  #servedAtMs = 0;
  #isStarting = false;
  #isStopping = false;
  #change = Promise.withResolvers<void>();

  constructor(options: SandboxPoolOptions) {
    this.#options = options;
  }

  get pids(): readonly number[] {
    return [...this.#all].map(({ pid }) => pid);
  }

  /** Starts the first, so that no message waits for it. */
  async warm(signal: AbortSignal): Promise<void> {
    const first = await this.acquire(signal);
    if (first !== null) this.release(first);
  }

  /** Resolves when one is idle, or another may start once a message is there. Ends one that is unused. */
  async room(signal: AbortSignal): Promise<void> {
    this.#retireUnused();
    while (!signal.aborted && this.#idle.length === 0 && !this.#mayStart()) await this.#changed(busyMs, signal);
  }

  /** A sandbox that is ready and idle; null when the signal aborts first. */
  async acquire(signal: AbortSignal): Promise<Sandbox | null> {
    let atMs = performance.now();
    this.#waitedMs = Math.max(0, this.#waitedMs - (atMs - this.#servedAtMs));
    while (!signal.aborted) {
      const free = this.#takeIdle();
      if (free !== null) {
        this.#servedAtMs = performance.now();
        return free;
      }
      const isWanted = this.#all.size === 0 || this.#waitedMs >= busyMs;
      if (isWanted && this.#mayStart()) void this.#start();
      // The wait for one that starts asks for no other one.
      const isStarting = this.#isStarting;
      await this.#changed(busyMs, signal);
      if (!isStarting) this.#waitedMs += performance.now() - atMs;
      atMs = performance.now();
    }
    return null;
  }

  /** Gives one back; an old one is replaced by the next `acquire`. */
  release(sandbox: Sandbox): void {
    this.#ranAtMs.set(sandbox, performance.now());
    if (this.#stale.has(sandbox) || sandbox.hasEnded) void this.#retire(sandbox);
    else this.#idle.push(sandbox);
    this.#notify();
  }

  /** Starts a sandbox of new code beside those that run. Where none runs, none is needed before the next is wanted. */
  async prepare(code: string): Promise<Successor> {
    if (this.#all.size === 0) return { isAlive: () => true, takeOver: () => this.refresh(), end: async () => {} };
    const sandbox = this.#options.create(code);
    await sandbox.ready;
    return {
      isAlive: () => !sandbox.hasEnded,
      takeOver: () => this.refresh(sandbox),
      end: () => sandbox.stop(retireMs),
    };
  }

  /** The code changed: idle sandboxes end now, busy ones after their invocation. @param next is ready and has the new code. */
  refresh(next?: Sandbox): void {
    this.#restMs = 0;
    for (const sandbox of this.#all) this.#stale.add(sandbox);
    const before = this.#idle.splice(0);
    if (next !== undefined) {
      this.#add(next);
      this.release(next);
    }
    for (const sandbox of before) void this.#retire(sandbox);
    this.#notify();
  }

  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    await Promise.all([...this.#all].map((sandbox) => sandbox.stop(graceMs)));
  }

  #takeIdle(): Sandbox | null {
    for (let last = this.#idle.pop(); last !== undefined; last = this.#idle.pop()) {
      if (!last.hasEnded) return last;
    }
    return null;
  }

  /** One at a time. */
  #mayStart(): boolean {
    if (this.#isStarting || this.#isStopping || performance.now() < this.#restMs) return false;
    return this.#all.size < this.#options.max;
  }

  /** No caller waits for it: `acquire` takes what is idle first, this one or another. */
  async #start(): Promise<void> {
    this.#isStarting = true;
    this.#waitedMs = 0;
    const sandbox = this.#options.create();
    this.#add(sandbox);
    try {
      await sandbox.ready;
      this.release(sandbox);
    } catch (error) {
      // What ends before it is ready, because all stops, is not broken.
      if (this.#isStopping) return;
      this.#restMs = performance.now() + brokenMs;
      void this.#retire(sandbox);
      this.#options.onBroken(error as Error);
    } finally {
      this.#isStarting = false;
    }
  }

  #add(sandbox: Sandbox): void {
    this.#all.add(sandbox);
    void sandbox.ended.then(() => {
      this.#all.delete(sandbox);
      this.#notify();
    });
  }

  /** A retired sandbox no longer counts: its successor may start beside it. */
  async #retire(sandbox: Sandbox): Promise<void> {
    this.#all.delete(sandbox);
    await sandbox.stop(retireMs);
  }

  #retireUnused(): void {
    const [oldest] = this.#idle;
    if (oldest === undefined) return;
    if (performance.now() - (this.#ranAtMs.get(oldest) ?? 0) < (this.#options.unusedMs ?? unusedMs)) return;
    this.#idle.shift();
    void this.#retire(oldest);
  }

  #notify(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers();
  }

  async #changed(ms: number, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const either = AbortSignal.any([signal, over.signal]);
    await Promise.race([this.#change.promise, wait(ms, undefined, { signal: either }).catch(() => {})]);
    over.abort();
  }
}
