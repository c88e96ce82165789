import { type AppDefinition, registry } from "../../src/core/definition.ts";
import { installDefinitions } from "../../src/core/install.ts";
import type { JobId } from "../../src/core/job.ts";
import type { Claimed, Fence, Log, OutMessage, Ports } from "../../src/core/ports.ts";
import { tick } from "../../src/core/tick.ts";
import { referenceStore } from "../support/reference-store.ts";

export interface Line {
  readonly level: string;
  readonly message: string;
  readonly fields: Record<string, unknown>;
}

/** A stage in memory: the reference store on a clock the test sets, a queue that only counts, and the real tick. */
export function world(apps: readonly AppDefinition[], start: number) {
  let now = start;
  const store = referenceStore(() => now);
  const definitions = registry(apps);
  const sent: OutMessage[] = [];
  const lines: Line[] = [];
  const metrics: { name: string; value: number; dimensions: Record<string, string> }[] = [];
  let ids = 0;
  let crashAt: string | null = null;
  const write =
    (level: string) =>
    (message: string, fields: Record<string, unknown> = {}) =>
      void lines.push({ level, message, fields });
  const log: Log = {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    child: () => log,
  };
  const ports: Omit<Ports, "locks" | "clock"> = {
    store,
    queue: {
      send: async (_lane, messages) => {
        sent.push(...messages);
        return { failed: [] };
      },
      depth: async () => ({ visible: 0, inFlight: 0, delayed: 0 }),
    },
    random: { next: () => 0.5, id: () => `id-${++ids}` },
    log,
    metrics: {
      add: (name, value, _unit, dimensions = {}) => void metrics.push({ name, value, dimensions }),
      flush: () => {},
    },
    crashPoint: async (name) => {
      if (name === crashAt) throw new Error(`crashed at ${name}`);
    },
  };
  return {
    store,
    sent,
    lines,
    metrics,
    ports,
    now: () => now,
    advance(ms: number) {
      now += ms;
    },
    crash(point: string | null) {
      crashAt = point;
    },
    install: (stage = "test") => installDefinitions(ports, definitions, { stage }),
    tick: (over: { fence?: Fence; signal?: AbortSignal; tzVersion?: string; lookAheadMs?: number } = {}) =>
      tick(ports, definitions, { stage: "test", lookAheadMs: 5 * 60_000, ...over }),
    /** Claims and finishes everything that is due now, as workers without a fault would. */
    async work(): Promise<readonly Claimed[]> {
      const claimed: Claimed[] = [];
      for (let turn = 0; turn < 1_000; turn++) {
        await store.relay({ lookAheadMs: 0, limit: 10_000 });
        const due = store.tables.inStates("QUEUED").filter((row) => row.dueAt <= now);
        if (due.length === 0) return claimed;
        const messages = due.map((row) => ({
          jobId: String(row.id) as JobId,
          generation: row.generation,
          trace: row.trace,
        }));
        const rows = await store.claim(messages, { worker: "w", alone: true });
        claimed.push(...rows);
        await store.settle(rows.filter((row) => row.state === "RUNNING").map(success), { worker: "w", lookAheadMs: 0 });
        await store.wake({ slotKeys: "all", limit: 10_000 });
      }
      throw new Error("work never ends");
    },
    pause(id: string, paused: boolean) {
      store.tables.schedules.set(id, { ...store.tables.schedules.row(id), paused });
      store.tables.journal.length = 0;
    },
    /** Every row of a schedule, the oldest first. */
    ledger: async (id: string) => (await store.occurrences(id, 1_000_000)).toReversed(),
  };
}

const success = ({ jobId, attempt }: Claimed) =>
  ({
    jobId,
    attempt,
    to: "SUCCESS",
    reason: null,
    delayMs: 0,
    failures: 0,
    interruptions: 0,
    errorCode: null,
    errorMessage: null,
    result: null,
    children: [],
  }) as const;
