import { type AppDefinition, registry } from "../../src/define/definition.ts";
import { installDefinitions } from "../../src/schedule/install-schedules.ts";
import type { JobId } from "../../src/machine/job.ts";
import { virtualTime } from "../support/virtual-clock.ts";
import type { Claimed } from "../../src/machine/store.ts";
import type { TestStore } from "../support/looks.ts";
import type { Fence } from "../../src/machine/fence.ts";
import type { Message, OutMessage } from "../../src/machine/outbox.ts";
import type { Ports } from "../../src/machine/ports.ts";
import { sendOutbox } from "../../src/run/send.ts";
import { tick } from "../../src/schedule/tick.ts";
import { type LogLine, type Metric, recordingLog, recordingMetrics } from "../../src/testing/recording.ts";
import { settlementOf } from "../contract/store/fixture.ts";
import { referenceStore } from "../support/reference-store.ts";

/** A store whose clock stands still unless the test moves it. */
export interface Ground<S extends TestStore> {
  readonly store: S;
  readonly start: number;
  advance(ms: number): Promise<void>;
}

export function referenceGround(start: number) {
  let now = start;
  const store = referenceStore(() => now);
  return {
    store,
    start,
    advance: async (ms: number) => void (now += ms),
  };
}

/** The whole of a stage but its processes: a store, a queue in memory, and the real tick. */
export function world<S extends TestStore>(apps: readonly AppDefinition[], ground: Ground<S>) {
  const { store } = ground;
  let now = ground.start;
  const definitions = registry(apps);
  const lines: LogLine[] = [];
  const metrics: Metric[] = [];
  const sent: OutMessage[] = [];
  const ran: JobId[] = [];
  let inbox: { readonly message: Message; readonly visibleAt: number }[] = [];
  let ids = 0;
  let crashAt: string | null = null;
  const ports: Omit<Ports, "locks"> = {
    store,
    queue: {
      send: async (_lane, messages) => {
        sent.push(...messages);
        inbox.push(...messages.map((message) => ({ message, visibleAt: now + message.delayMs })));
        return { failed: [] };
      },
      depth: async () => ({ visible: 0, inFlight: 0, delayed: 0 }),
    },
    clock: virtualTime().clock,
    random: { next: () => 0.5, id: () => `id-${++ids}` },
    log: recordingLog(lines),
    metrics: recordingMetrics(metrics),
    crashPoint: async (name) => {
      if (name === crashAt) throw new Error(`crashed at ${name}`);
    },
  };
  /** A delay is rounded down, so a message may come a little early: it waits, as a worker would let it. */
  const sendAnew = async (messages: readonly Message[]): Promise<void> => {
    if (messages.length === 0) return;
    const rows = new Map((await store.peek(messages.map((message) => message.jobId))).map((row) => [row.jobId, row]));
    for (const message of messages) {
      const row = rows.get(message.jobId);
      const isOurs = row?.state === "QUEUED" && row.generation === message.generation;
      if (isOurs) inbox.push({ message, visibleAt: now + Math.max(1, Math.ceil(row.dueInMs)) });
    }
  };
  /** Claims and finishes everything that is due now, as workers without a fault would. */
  const work = async (): Promise<readonly Claimed[]> => {
    const claimed: Claimed[] = [];
    for (let turn = 0; turn < 10_000; turn++) {
      await sendOutbox(ports, await store.relay({ limit: 10_000 }));
      await sendOutbox(ports, await store.wake({ slotKeys: "all", limit: 10_000 }));
      const visible = inbox.filter((each) => each.visibleAt <= now).map((each) => each.message);
      if (visible.length === 0) return claimed;
      inbox = inbox.filter((each) => each.visibleAt > now);
      const { claimed: rows } = await store.claim(visible, { worker: "w", alone: true });
      const running = rows.filter((row) => row.state === "RUNNING");
      claimed.push(...rows);
      ran.push(...running.map((row) => row.jobId));
      await sendAnew(visible.filter((message) => !rows.some((row) => row.jobId === message.jobId)));
      if (running.length > 0)
        await store.settle(
          running.map((job) => settlementOf(job)),
          { worker: "w" },
        );
    }
    throw new Error("work never ends");
  };
  return {
    store,
    sent,
    ran,
    lines,
    metrics,
    ports,
    work,
    now: () => now,
    async advance(ms: number) {
      await ground.advance(ms);
      now += ms;
    },
    crash(point: string | null) {
      crashAt = point;
    },
    install: (stage = "test") => installDefinitions(ports, definitions, { stage }),
    tick: (over: { fence?: Fence; signal?: AbortSignal; tzVersion?: string; dispatchWindowMs?: number } = {}) =>
      tick(ports, definitions, { dispatchWindowMs: 5 * 60_000, ...over }),
    /** Every row of a schedule, the oldest first. */
    ledger: async (id: string) => (await store.occurrences(id)).toReversed(),
  };
}
