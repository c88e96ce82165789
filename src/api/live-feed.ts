import type { ReadEvents, StreamCursor, StreamEvent } from "../insight/event-stream.ts";
import type { Clock, Log } from "../machine/ports.ts";
import { streamLimits } from "../insight/stream-limits.ts";

/** What one look found, made ready for sending once for all listeners. */
export interface Batch {
  readonly events: readonly { readonly event: StreamEvent; readonly data: string }[];
  /** Reading again from `before` brings these events again; from `after`, what follows them. */
  readonly before: StreamCursor;
  readonly after: StreamCursor;
  readonly isGap: boolean;
}

export interface LiveFeed {
  /**
   * `listen` gets every batch from now on, without a gap once `ready` has resolved. Read earlier events yourself, and drop
   * those that come twice. `end` ends it.
   */
  listen(listen: (batch: Batch) => void): { readonly ready: Promise<StreamCursor>; end(): void };
}

/**
 * One reader of the events for all listeners of this process: 200 open pages cost the database one read, four times a
 * second. Without listeners it reads nothing.
 */
export function createLiveFeed(options: { readEvents: ReadEvents; clock: Clock; log: Log }): LiveFeed {
  const { readEvents, clock, log } = options;
  const listeners = new Set<(batch: Batch) => void>();
  let isReading = false;
  let cursor: StreamCursor | null = null;
  let begun = Promise.withResolvers<StreamCursor>();

  const read = async (): Promise<void> => {
    while (listeners.size > 0) {
      try {
        const page = await readEvents(cursor, streamLimits.streamRowsMax);
        if (page.events.length > 0 || page.isGap) {
          const batch = batchOf(page.events, cursor ?? page.cursor, page.cursor, page.isGap);
          for (const listen of listeners) listen(batch);
        }
        cursor = page.cursor;
        begun.resolve(cursor);
        if (!page.isMore) await clock.sleep(streamLimits.streamLookMs);
      } catch (error) {
        log.warn("the events could not be read; the next look goes on from the same place", { error });
        await clock.sleep(streamLimits.streamRetryMs);
      }
    }
    isReading = false;
    cursor = null;
    begun = Promise.withResolvers();
  };

  return {
    listen(listen) {
      listeners.add(listen);
      if (!isReading) {
        isReading = true;
        void read();
      }
      const ready = cursor === null ? begun.promise : Promise.resolve(cursor);
      return { ready, end: () => void listeners.delete(listen) };
    },
  };
}

export function batchOf(
  events: readonly StreamEvent[],
  before: StreamCursor,
  after: StreamCursor,
  isGap: boolean,
): Batch {
  return {
    events: events.map((event) => ({ event, data: JSON.stringify(event) })),
    before,
    after,
    isGap,
  };
}
