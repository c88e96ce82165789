import { deliveryLimits } from "../../src/machine/delivery-limits.ts";
import type { Log, LockStore, Metrics, Ports } from "../../src/machine/ports.ts";
import type { Store } from "../../src/machine/store.ts";
import type { Worker } from "../../src/run/worker.ts";
import { createMemoryLockStore, type MemoryLockStore } from "../../src/testing/memory-lock-store.ts";
import type { ReferenceStore } from "../support/reference-store.ts";
import { seededRandom, type SeededRandom } from "../support/seeded-random.ts";
import { virtualTime, type VirtualTime } from "../support/virtual-clock.ts";
import { appOf, simApp, type SimApp } from "./app.ts";
import { locksFor } from "./locks.ts";
import { memoryServer } from "./memory-server.ts";
import { SimProcess, never } from "./process.ts";
import { queueFor, SimQueue } from "./queue.ts";
import { emptyRecord, type Record } from "./record.ts";
import { noteEras, type OpenServer, type SimServer } from "./server.ts";
import { storeFor, type Layer } from "./store.ts";
import { Wire } from "./wire.ts";

/** Where a planted bug may sit: between the real core and the servers, or in what runs the core. */
export interface Planted {
  store(base: ReferenceStore, world: World): Store;
  locks(base: MemoryLockStore, world: World, process: SimProcess): LockStore;
  queue(process: Ports["queue"]): Ports["queue"];
  worker(worker: Worker, world: World): Worker;
  /** Messages are acknowledged when they are received. */
  readonly ackFirst: boolean;
}

const nothingPlanted: Planted = {
  store: (base) => base,
  locks: (base) => base,
  queue: (queue) => queue,
  worker: (worker) => worker,
  ackFirst: false,
};

export interface WorldOptions {
  readonly seed: number;
  readonly planted: Partial<Planted>;
  readonly without: ReadonlySet<Layer>;
  readonly trace: ((line: string) => void) | null;
  /** Left out: the reference store. */
  readonly open?: OpenServer;
}

const epochMs = Date.UTC(2026, 10, 1, 0, 0, 0);

/** Servers, time and chance, shared by all processes of one run. */
export class World {
  readonly time: VirtualTime = virtualTime(() => this.server.settled());
  readonly seed: number;
  readonly random: SeededRandom;
  readonly record: Record = emptyRecord();
  server: SimServer;
  readonly lockTable = createMemoryLockStore();
  readonly queue: SimQueue;
  readonly wire: Wire;
  readonly planted: Planted;
  readonly without: ReadonlySet<Layer>;
  readonly trace: ((line: string) => void) | null;
  /** The period that the newest release gives the schedule `often`. */
  everyMs = 15_000;
  isFaulty = false;
  readonly #living = new Map<SimProcess, (() => void) | null>();
  #isOver = false;
  readonly #hostClocks = new Map<string, number>();

  constructor(options: WorldOptions) {
    this.seed = options.seed;
    this.random = seededRandom(options.seed);
    this.planted = { ...nothingPlanted, ...options.planted };
    this.without = options.without;
    const trace = options.trace;
    this.trace = trace === null ? null : (line) => trace(`${String(this.time.nowMs).padStart(7)} ${line}`);
    this.queue = new SimQueue(this.time, this.random.fork("queue"));
    this.wire = new Wire(this.time, this.random.fork("wire"), this.trace);
    this.server = memoryServer(
      () => this.now(),
      (base) => this.planted.store(base, this),
    );
  }

  static async open(options: WorldOptions): Promise<World> {
    const world = new World(options);
    if (options.open !== undefined) world.server = await options.open(() => world.now(), world.time);
    return world;
  }

  /** The database's clock. */
  now(): number {
    return epochMs + this.time.nowMs;
  }

  /** The wall clock of the host a process runs on: up to ten minutes wrong. */
  hostNow(processName: string): number {
    const host = processName.split(".")[0] ?? processName;
    const known = this.#hostClocks.get(host) ?? this.random.between(-600_000, 600_000);
    this.#hostClocks.set(host, known);
    return this.now() + known;
  }

  process(name: string, onDeath: () => void): SimProcess {
    const process = new SimProcess(name, this.time, {
      clockOffsetMs: this.random.between(0, 1_000_000),
      onKill: (dead, why) => {
        this.trace?.(`${dead.name} ended: ${why}`);
        this.#living.delete(dead);
        if (!this.#isOver) onDeath();
      },
    });
    this.#living.set(process, null);
    return process;
  }

  /** Ends what still runs, for good: a sleeping process would keep the whole world in memory. */
  end(): void {
    this.#isOver = true;
    for (const process of this.#living.keys()) process.kill("the world ends");
  }

  onTerm(process: SimProcess, onStop: () => void): void {
    if (process.isAlive) this.#living.set(process, onStop);
  }

  /** SIGTERM to one of the processes that listen for it. */
  terminateOne(): void {
    const listening = [...this.#living].filter((entry): entry is [SimProcess, () => void] => entry[1] !== null);
    const chosen = this.random.shuffled(listening)[0];
    if (chosen === undefined) return;
    this.trace?.(`${chosen[0].name} is asked to stop`);
    this.#living.set(chosen[0], null);
    chosen[0].deliver(chosen[1]);
  }

  /** SIGSTOP, longer than a lease, for one worker or scheduler task. */
  stopOne(): void {
    const running = [...this.#living].flatMap(([process, onStop]) => (onStop === null ? [] : [process]));
    const chosen = this.random.shuffled(running)[0];
    if (chosen === undefined) return;
    const ms = this.random.between(2_500, 12_000);
    this.trace?.(`${chosen.name} stopped for ${ms} ms`);
    this.wire.trouble(chosen);
    chosen.stop(ms);
  }

  /** The ports and definitions of a process; one that runs no handler has those of all others. */
  inside(process: SimProcess, { runsHandlers = false } = {}): { ports: Ports; app: SimApp } {
    const { wire, record, time, without } = this;
    const random = this.random.fork(process.name);
    const store = this.server.storeOf(process);
    const installSchedules = noteEras(this.server, record, store.installSchedules);
    const ports: Ports = {
      store: storeFor(process, { base: { ...store, installSchedules }, wire, record, without }),
      queue: this.planted.queue(queueFor(process, wire, this.queue, random)),
      locks: locksFor(process, { base: this.planted.locks(this.lockTable, this, process), wire, record, time }),
      clock: process.clock,
      random,
      log: silent,
      metrics: noMetrics,
      crashPoint: (name) => wire.mayCrash(process, name),
    };
    return { ports, app: runsHandlers ? simApp(this.#surroundings(process), this.everyMs) : appOf(this.everyMs) };
  }

  #surroundings(process: SimProcess): Parameters<typeof simApp>[0] {
    return {
      sleep: (ms, signal) => process.clock.sleep(ms, signal),
      target: (effect) =>
        this.wire.call(process, "target", async () => {
          this.record.effects.push(effect);
        }),
      batch: (jobs) => this.wire.call(process, "target", async () => void this.record.calls.push(jobs)),
      see: (seen) => this.wire.call(process, "target", async () => void this.record.seen.push(seen)),
      isDown: () => this.isFaulty,
      die: async () => {
        if (!this.isFaulty) return;
        process.kill("the handler killed it");
        await never();
      },
    };
  }
}

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };
const noMetrics: Metrics = { add() {}, flush() {} };

/** Virtual time a run may need to come to rest after the last fault. */
export const restMsMax = 8 * 60_000 + deliveryLimits.deadLetterBackoffMs;
