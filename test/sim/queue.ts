import { deliveryLimits } from "../../src/machine/delivery-limits.ts";
import { decodeMessage, encodeMessage } from "../../src/run/message.ts";
import type { OutMessage } from "../../src/machine/outbox.ts";
import type { Queue } from "../../src/machine/ports.ts";
import type { SeededRandom } from "../support/seeded-random.ts";
import type { VirtualTime } from "../support/virtual-clock.ts";
import type { SimProcess } from "./process.ts";
import type { Record } from "./record.ts";
import type { Wire } from "./wire.ts";

/** How often the queue does what standard queues may do: the probability for one message. */
export interface QueueRates {
  readonly lose: number;
  readonly duplicate: number;
  /** Delivered seconds late. */
  readonly late: number;
  /** Delivered at once, whatever delay was asked for. */
  readonly early: number;
  /** Refused in an answer that says success. */
  readonly refuse: number;
}

export const calmQueue: QueueRates = { lose: 0, duplicate: 0, late: 0, early: 0, refuse: 0 };

interface Stored {
  readonly messageId: string;
  readonly body: string;
  receives: number;
  troubledReceives: number;
  visibleAtMs: number;
}

export interface Received {
  readonly messageId: string;
  readonly body: string;
}

const receivesMax = 5;

/** The queue service of the simulation, with a dead-letter queue for each lane. */
export class SimQueue {
  rates: QueueRates = calmQueue;
  readonly #time: VirtualTime;
  readonly #random: SeededRandom;
  readonly #lanes = new Map<string, Map<string, Stored>>();
  readonly #dead = new Map<string, Map<string, Stored>>();
  #lastId = 0;

  constructor(time: VirtualTime, random: SeededRandom) {
    this.#time = time;
    this.#random = random;
  }

  put(lane: string, message: OutMessage): void {
    if (this.#random.chance(this.rates.lose)) return;
    const copies = this.#random.chance(this.rates.duplicate) ? 2 : 1;
    for (let copy = 0; copy < copies; copy += 1) {
      const messageId = `m${++this.#lastId}`;
      const visibleAtMs = this.#time.nowMs + this.#delayMs(message);
      const stored = { messageId, body: encodeMessage(message), receives: 0, troubledReceives: 0, visibleAtMs };
      laneOf(this.#lanes, lane).set(messageId, stored);
    }
  }

  #delayMs(message: OutMessage): number {
    if (this.#random.chance(this.rates.early)) return 0;
    const asked = Math.floor(Math.min(Math.max(message.delayMs, 0), deliveryLimits.queueDelayMsMax) / 1_000) * 1_000;
    return asked + (this.#random.chance(this.rates.late) ? this.#random.between(500, 20_000) : 0);
  }

  /** Up to `max` visible messages in any order, hidden for `visibilityMs`. */
  receive(lane: string, max: number, visibilityMs: number): readonly Received[] {
    const messages = laneOf(this.#lanes, lane);
    const visible = [...messages.values()].filter((message) => message.visibleAtMs <= this.#time.nowMs);
    for (const message of visible.filter((one) => one.receives >= receivesMax)) {
      messages.delete(message.messageId);
      laneOf(this.#dead, lane).set(message.messageId, message);
    }
    const alive = visible.filter((message) => messages.has(message.messageId));
    const taken = this.#random.shuffled(alive).slice(0, max);
    for (const message of taken) {
      message.receives += 1;
      message.troubledReceives += 1;
      message.visibleAtMs = this.#time.nowMs + visibilityMs;
    }
    return taken.map(({ messageId, body }) => ({ messageId, body }));
  }

  delete(lane: string, messageId: string): void {
    laneOf(this.#lanes, lane).delete(messageId);
  }

  /** A receive without an answer counts as troubled; one that was answered with "give it back" only if it was. */
  giveBack(lane: string, messageId: string, options: { delayMs: number; wasTroubled: boolean }): void {
    const message = laneOf(this.#lanes, lane).get(messageId);
    if (message === undefined) return;
    message.visibleAtMs = this.#time.nowMs + options.delayMs;
    if (!options.wasTroubled) message.troubledReceives -= 1;
  }

  depth(lane: string): { visible: number; inFlight: number; delayed: number } {
    const all = [...laneOf(this.#lanes, lane).values()];
    const visible = all.filter((message) => message.visibleAtMs <= this.#time.nowMs).length;
    const delayed = all.filter((message) => message.receives === 0 && message.visibleAtMs > this.#time.nowMs).length;
    return { visible, inFlight: all.length - visible - delayed, delayed };
  }

  /** What lies in the dead-letter queue; each stays until it is dropped. */
  dead(lane: string): readonly Received[] {
    return [...laneOf(this.#dead, lane).values()].map(({ messageId, body }) => ({ messageId, body }));
  }

  dropDead(lane: string, messageId: string, record: Record, drained: boolean): void {
    const message = laneOf(this.#dead, lane).get(messageId);
    laneOf(this.#dead, lane).delete(messageId);
    const body = message === undefined ? null : decodeMessage(message.body);
    if (message === undefined || body === null) return;
    const { receives, troubledReceives } = message;
    record.deadLetters.push({ jobId: body.jobId, generation: body.generation, receives, troubledReceives, drained });
  }

  get deadCount(): number {
    return [...this.#dead.values()].reduce((sum, lane) => sum + lane.size, 0);
  }
}

function laneOf(lanes: Map<string, Map<string, Stored>>, lane: string): Map<string, Stored> {
  const known = lanes.get(lane) ?? new Map<string, Stored>();
  lanes.set(lane, known);
  return known;
}

/** The queue as one process reaches it. */
export function queueFor(process: SimProcess, wire: Wire, queue: SimQueue, random: SeededRandom): Queue {
  return {
    send: (lane, messages) =>
      wire.call(process, "queue.send", async () => {
        const failed = messages.flatMap((_message, index) => (random.chance(queue.rates.refuse) ? [index] : []));
        if (failed.length > 0) wire.trouble(process);
        messages.forEach((message, index) => {
          if (!failed.includes(index)) queue.put(lane, message);
        });
        return { failed };
      }),
    depth: (lane) => wire.call(process, "queue.depth", async () => queue.depth(lane)),
  };
}
