import { passLimits } from "../schedule/pass-limits.ts";
import { publishLimits } from "./publish-limits.ts";
import type { Clock, Log, Metrics } from "../machine/ports.ts";
import type { StreamEvent } from "./event-stream.ts";
import { failReader, openReader, passEvents, takeReader } from "./reader.ts";
import type { Database } from "./sql-query.ts";
import { readEvents } from "./stream.ts";

export interface EventSink {
  /** For logs. */
  readonly name: string;
  /** Resolves when all were accepted. Throws otherwise; then all are sent again, so some may arrive twice. */
  send(events: readonly StreamEvent[], signal: AbortSignal): Promise<void>;
}

type PublishPorts = { readonly clock: Clock; readonly log: Log; readonly metrics: Metrics };

const name = "publisher";

/**
 * Sends the next page of events, in the order in which they became visible, then marks them. If the process dies in between
 * they are sent again under the same ids. Only the owner of the lease sends. A sink that refuses is called again after
 * growing waits, and delays no other sink.
 * @returns how many were sent and marked.
 */
export async function publishPage(
  ports: PublishPorts,
  insight: Database,
  { sink, owner }: { sink: EventSink; owner: string },
): Promise<number> {
  const seen = await openReader(insight, name);
  if (seen === null) return 0;
  const page = await readEvents(insight, seen.cursor, publishLimits.publishRowsMax);
  if (page.events.length === 0 && !page.isGap) return 0;
  const [mine] = await insight.run(takeReader, { name, owner, version: seen.version });
  if (mine === undefined) return 0;
  if (page.isGap) {
    ports.log.error("events may have been left unpublished: the database was restored or exchanged", {
      sink: sink.name,
    });
  }
  const error = await send(ports.clock, sink, page.events);
  if (error !== null) {
    await insight.run(failReader, { name, owner, version: mine.version });
    ports.metrics.add("events.publish.failed", 1);
    ports.log.warn("the events were not accepted; they are sent again later", { sink: sink.name, error });
    return 0;
  }
  const { cursor, events } = page;
  const isMarked = await passEvents(insight, { name, owner, version: mine.version, cursor, events });
  if (isMarked) ports.metrics.add("events.published", page.events.length);
  return isMarked ? page.events.length : 0;
}

/** Publishes until the signal; never throws. Of all processes that call it, one at a time sends. */
export async function publishing(
  ports: PublishPorts,
  insight: Database,
  options: { sink: EventSink; owner: string; signal: AbortSignal },
): Promise<void> {
  while (!options.signal.aborted) {
    try {
      if ((await publishPage(ports, insight, options)) > 0) continue;
    } catch (error) {
      ports.log.warn("the events could not be published; the next round goes on", { error });
      ports.metrics.add("events.publish.failed", 1);
    }
    await ports.clock.sleep(passLimits.passIntervalMs, options.signal);
  }
}

/** @returns the error, if any. A sink that does not answer is aborted before the lease ends. */
async function send(clock: Clock, sink: EventSink, events: readonly StreamEvent[]): Promise<unknown> {
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
