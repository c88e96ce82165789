import { type EventFilter, matchesFilter, type ReadEvents, type StreamCursor } from "../insight/event-stream.ts";
import type { Clock } from "../machine/ports.ts";
import { streamLimits } from "../insight/stream-limits.ts";
import type { ReloadStatus } from "./saves.ts";
import { type Batch, batchOf, type LiveFeed } from "./live-feed.ts";

export interface LiveStreamOptions extends EndedStreamOptions {
  readonly clock: Clock;
  readonly feed: LiveFeed;
  readonly saves?: ReloadStatus | undefined;
}

export interface EndedStreamOptions {
  readonly readEvents: ReadEvents;
  readonly filter: EventFilter;
  /** Where the client was; null begins with a snapshot. */
  readonly cursor: StreamCursor | null;
  /** What a client without a cursor sees first, as JSON. */
  readonly snapshot: () => Promise<string>;
}

/**
 * One client's stream of server-sent events: the missed ones, then each as it becomes visible. It is closed after 55 seconds,
 * so that a host that bills by the second does not pay for a closed page; the client reconnects with the id of its last
 * event. A client that reads too slowly is closed earlier and reconnects too.
 */
export function eventSource(options: LiveStreamOptions): Response {
  let end = (): void => {};
  const body = new ReadableStream<Uint8Array>(
    {
      async start(controller) {
        const writer = writerTo(controller, () => end());
        end = serve(options, writer);
        await Promise.resolve();
      },
      cancel: () => end(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: streamLimits.streamBufferBytesMax }),
  );
  return new Response(body, { headers });
}

const headers = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
} as const;

/** The same, ended at once: the client comes back after `streamPollMs` with the id of the last event it saw. */
export async function endedSource({ readEvents, filter, cursor, snapshot }: EndedStreamOptions): Promise<Response> {
  const frames = [`retry: ${streamLimits.streamPollMs}\n\n`];
  let from = cursor;
  let isMore = true;
  while (isMore) {
    const page = await readEvents(from, streamLimits.streamRowsMax);
    if (from === null) frames.push(`event: snapshot\ndata: ${await snapshot()}\n\n`);
    else frames.push(framesOf(batchOf(page.events, from, page.cursor, page.isGap), filter, new Set()));
    // The id alone moves the client on past events that its filter left out.
    frames.push(`id: ${page.cursor}\n\n`);
    isMore = page.isMore && frames.reduce((sum, { length }) => sum + length, 0) < streamLimits.streamBufferBytesMax;
    from = page.cursor;
  }
  return new Response(frames.join(""), { headers });
}

interface Writer {
  write(text: string): void;
  close(): void;
}

function writerTo(controller: ReadableStreamDefaultController<Uint8Array>, onFull: () => void): Writer {
  const encoder = new TextEncoder();
  let isOpen = true;
  const close = (): void => {
    if (!isOpen) return;
    isOpen = false;
    // A client that has left has closed the stream already.
    try {
      controller.close();
    } catch {}
  };
  return {
    write(text) {
      if (!isOpen) return;
      if ((controller.desiredSize ?? 0) <= 0) return onFull();
      controller.enqueue(encoder.encode(text));
    },
    close,
  };
}

/** @returns what ends it. */
function serve(options: LiveStreamOptions, writer: Writer): () => void {
  const { readEvents, clock, feed, filter, cursor, snapshot, saves } = options;
  let isOpen = true;
  let early: Batch[] | null = [];
  const seen = new Set<string>();
  let upto = cursor;
  const send = (batch: Batch): void => {
    upto = batch.after;
    writer.write(framesOf(batch, filter, seen));
  };
  const listening = feed.listen((batch) => (early === null ? send(batch) : early.push(batch)));
  const timers = [clock.after(streamLimits.streamCloseMs, () => end())];
  const beat = (): void => {
    // The id alone moves the client past events that its filter left out.
    writer.write(upto === null ? ": still here\n\n" : `: still here\nid: ${upto}\n\n`);
    if (isOpen) timers[1] = clock.after(streamLimits.streamCommentMs, beat);
  };
  timers[1] = clock.after(streamLimits.streamCommentMs, beat);
  const end = (): void => {
    if (!isOpen) return;
    isOpen = false;
    listening.end();
    endSaves?.();
    for (const cancel of timers) cancel();
    writer.close();
  };
  writer.write(`retry: ${streamLimits.streamRetryMs}\n\n`);
  const showSave = (): void =>
    writer.write(`event: save\ndata: ${JSON.stringify(saves?.running()?.refused ?? null)}\n\n`);
  const endSaves = saves?.onChange(showSave);
  if (saves !== undefined) showSave();

  /** Reads the events before the feed's first batch; an event of both is sent once. */
  const begin = async (): Promise<void> => {
    const at = await listening.ready;
    upto ??= at;
    if (cursor === null) writer.write(`id: ${at}\nevent: snapshot\ndata: ${await snapshot()}\n\n`);
    for (let from = cursor; from !== null;) {
      const page = await readEvents(from, streamLimits.streamRowsMax);
      send(batchOf(page.events, from, page.cursor, page.isGap));
      for (const { id } of page.events) remember(seen, id);
      from = page.isMore && isOpen ? page.cursor : null;
    }
    for (const batch of early ?? []) send(batch);
    early = null;
  };
  begin().catch(() => end());
  return end;
}

/** Events that were read here may come again with the feed's next batches, but not much later. */
function remember(seen: Set<string>, id: string): void {
  seen.add(id);
  if (seen.size <= streamLimits.streamSeenMax) return;
  for (const oldest of seen) {
    seen.delete(oldest);
    return;
  }
}

/** The id of an event is where a client continues after it; it may get other events of the batch again. */
function framesOf({ events, before, after, isGap }: Batch, filter: EventFilter, seen: ReadonlySet<string>): string {
  const frames: string[] = isGap ? [`id: ${after}\nevent: gap\ndata: {}\n\n`] : [];
  const mine = events.filter(({ event }) => matchesFilter(event, filter) && !seen.has(event.id));
  mine.forEach(({ data }, index) => {
    frames.push(`id: ${index === mine.length - 1 ? after : before}\nevent: job\ndata: ${data}\n\n`);
  });
  return frames.join("");
}
