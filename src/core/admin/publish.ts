import { passLimits } from "../scheduler/pass-limits.ts";
import { publishLimits } from "../ports/publish-limits.ts";
import type { Clock, Log, Metrics } from "../ports/ports.ts";
import type { StreamEvent } from "../ports/event-stream.ts";
import type { Operations } from "../ports/operations.ts";

/** An event as a sink gets it. Repeats have the same `id`, by which the receiver drops them. */
export interface PublishedEvent {
  readonly id: string;
  readonly at: string;
  readonly job: string;
  readonly run: string | null;
  readonly kind: string | null;
  readonly key: string | null;
  readonly lane: string | null;
  readonly from: string | null;
  readonly to: string;
  readonly attempt: number;
  readonly generation: number;
  readonly worker: string | null;
  readonly reason: string | null;
}

/** Where events go. */
export interface EventSink {
  /** For logs. */
  readonly name: string;
  /** Resolves when all were accepted. Throws otherwise; then all are sent again, so some may arrive twice. */
  send(events: readonly PublishedEvent[], signal: AbortSignal): Promise<void>;
}

type PublishPorts = { readonly clock: Clock; readonly log: Log; readonly metrics: Metrics };

const readerName = "publisher";

/**
 * Sends the next page of events, in the order in which they became visible, then marks them. If the process dies in between
 * they are sent again under the same ids. Only the owner of the lease sends. A sink that refuses is called again after
 * growing waits, and delays no other sink.
 * @returns how many were sent and marked.
 */
export async function publishPage(
  ports: PublishPorts,
  operations: Operations,
  { sink, owner }: { sink: EventSink; owner: string },
): Promise<number> {
  const seen = await operations.reader(readerName);
  if (seen === null) return 0;
  const page = await operations.stream(seen.cursor, publishLimits.publishRowsMax);
  if (page.events.length === 0 && !page.isGap) return 0;
  const mine = await operations.takeReader(readerName, { owner, version: seen.version });
  if (mine === null) return 0;
  if (page.isGap) {
    ports.log.error("events may have been left unpublished: the database was restored or exchanged", {
      sink: sink.name,
    });
  }
  const error = await send(ports.clock, sink, page.events.map(publishedEvent));
  if (error !== null) {
    await operations.failReader(readerName, { owner, version: mine });
    ports.metrics.add("events.publish.failed", 1);
    ports.log.warn("the events were not accepted; they are sent again later", { sink: sink.name, error });
    return 0;
  }
  const place = { owner, version: mine, cursor: page.cursor, events: page.events };
  const isMarked = await operations.markPublished(readerName, place);
  if (isMarked) ports.metrics.add("events.published", page.events.length);
  return isMarked ? page.events.length : 0;
}

/** Publishes until the signal; never throws. Of all processes that call it, one at a time sends. */
export async function publishing(
  ports: PublishPorts,
  operations: Operations,
  options: { sink: EventSink; owner: string; signal: AbortSignal },
): Promise<void> {
  while (!options.signal.aborted) {
    try {
      if ((await publishPage(ports, operations, options)) > 0) continue;
    } catch (error) {
      ports.log.warn("the events could not be published; the next round goes on", { error });
      ports.metrics.add("events.publish.failed", 1);
    }
    await ports.clock.sleep(passLimits.passIntervalMs, options.signal);
  }
}

/** @returns the error, if any. A sink that does not answer is aborted before the lease ends. */
async function send(clock: Clock, sink: EventSink, events: readonly PublishedEvent[]): Promise<unknown> {
  if (events.length === 0) return null;
  const given = new AbortController();
  const cancel = clock.after(publishLimits.publishMs, () =>
    given.abort(new Error(`not accepted within ${publishLimits.publishMs} ms`)),
  );
  try {
    await sink.send(events, given.signal);
    return null;
  } catch (error) {
    return error;
  } finally {
    cancel();
  }
}

export const publishedEvent = (event: StreamEvent): PublishedEvent => ({
  id: event.id,
  at: new Date(event.at).toISOString(),
  job: event.jobId,
  run: event.runId,
  kind: event.kind,
  key: event.key,
  lane: event.lane,
  from: event.from,
  to: event.to,
  attempt: event.attempt,
  generation: event.generation,
  worker: event.worker,
  reason: event.reason,
});
