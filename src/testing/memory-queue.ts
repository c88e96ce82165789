import { deliveryLimits } from "../machine/delivery-limits.ts";
import { encodeMessage } from "../run/message.ts";
import type { OutMessage } from "../machine/outbox.ts";
import type { Queue } from "../machine/ports.ts";

export interface ReceivedMessage {
  readonly messageId: string;
  readonly body: string;
  /** How often it was received, this time included. */
  readonly receiveCount: number;
}

export interface MemoryQueue extends Queue {
  /** Visible messages in the order they became so; each is hidden for `visibilityMs`. Dead ones move to `deadLetters`. */
  receive(lane: string, max: number): readonly ReceivedMessage[];
  delete(lane: string, messageIds: readonly string[]): void;
  /** Visible again after `delayMs`. */
  giveBack(lane: string, messageIds: readonly string[], delayMs?: number): void;
  /** Puts any body in, as a stranger could. */
  put(lane: string, body: string, delayMs?: number): string;
  /** Takes what reached the dead-letter queue. */
  deadLetters(lane: string): readonly ReceivedMessage[];
  /** Messages in the lane's queue: visible, hidden and delayed. */
  size(lane: string): number;
  /** When the next message becomes visible, in the clock's milliseconds; null when none waits. */
  nextVisibleAt(lane: string): number | null;
}

export interface MemoryQueueOptions {
  readonly elapsedMs: () => number;
  readonly visibilityMs?: number;
  readonly maxReceiveCount?: number;
}

interface Stored {
  readonly messageId: string;
  readonly body: string;
  receiveCount: number;
  visibleAt: number;
}

/** A standard queue without loss, duplicates or reordering: a simulation adds those around it. */
export function createMemoryQueue(options: MemoryQueueOptions): MemoryQueue {
  const { elapsedMs, visibilityMs = 30_000, maxReceiveCount = 5 } = options;
  const lanes = new Map<string, Stored[]>();
  const dead = new Map<string, Stored[]>();
  let lastId = 0;

  const storedIn = (of: Map<string, Stored[]>, lane: string): Stored[] => {
    const known = of.get(lane) ?? [];
    of.set(lane, known);
    return known;
  };
  const put = (lane: string, body: string, delayMs = 0): string => {
    const messageId = `m${++lastId}`;
    storedIn(lanes, lane).push({ messageId, body, receiveCount: 0, visibleAt: elapsedMs() + delayMs });
    return messageId;
  };
  const remove = (lane: string, gone: (message: Stored) => boolean): Stored[] => {
    const all = storedIn(lanes, lane);
    lanes.set(
      lane,
      all.filter((message) => !gone(message)),
    );
    return all.filter(gone);
  };
  const isVisible = (message: Stored): boolean => message.visibleAt <= elapsedMs();

  return {
    put,
    async send(lane, messages) {
      for (const message of messages) put(lane, encodeMessage(message), wholeSeconds(message));
      return { failed: [] };
    },
    async depth(lane) {
      const all = storedIn(lanes, lane);
      const visible = all.filter(isVisible).length;
      const delayed = all.filter((message) => message.receiveCount === 0 && !isVisible(message)).length;
      return { visible, inFlight: all.length - visible - delayed, delayed };
    },
    receive(lane, max) {
      const died = remove(lane, (message) => isVisible(message) && message.receiveCount >= maxReceiveCount);
      storedIn(dead, lane).push(...died);
      const ready = storedIn(lanes, lane)
        .filter(isVisible)
        .toSorted((a, b) => a.visibleAt - b.visibleAt)
        .slice(0, max);
      for (const message of ready) {
        message.receiveCount += 1;
        message.visibleAt = elapsedMs() + visibilityMs;
      }
      return ready.map(({ messageId, body, receiveCount }) => ({ messageId, body, receiveCount }));
    },
    delete: (lane, messageIds) => void remove(lane, (message) => messageIds.includes(message.messageId)),
    giveBack(lane, messageIds, delayMs = 0) {
      for (const message of storedIn(lanes, lane)) {
        if (messageIds.includes(message.messageId)) message.visibleAt = elapsedMs() + delayMs;
      }
    },
    deadLetters(lane) {
      const taken = storedIn(dead, lane);
      dead.set(lane, []);
      return taken.map(({ messageId, body, receiveCount }) => ({ messageId, body, receiveCount }));
    },
    size: (lane) => storedIn(lanes, lane).length,
    nextVisibleAt: (lane) =>
      storedIn(lanes, lane).reduce<number | null>(
        (least, { visibleAt }) => Math.min(least ?? visibleAt, visibleAt),
        null,
      ),
  };
}

const wholeSeconds = (message: OutMessage): number =>
  Math.floor(Math.min(Math.max(message.delayMs, 0), deliveryLimits.queueDelayMsMax) / 1_000) * 1_000;
