import { expect } from "vitest";
import type { StreamCursor, StreamEvent } from "../../src/insight/event-stream.ts";
import type { Database } from "../../src/insight/sql-query.ts";
import { readEvents } from "../../src/insight/stream.ts";

/** Reads the stream by pages of so many moves until a page says that there is no more. */
export async function readOn(
  insight: Database,
  from: StreamCursor,
  limit: number,
): Promise<{ events: readonly StreamEvent[]; cursor: StreamCursor }> {
  const events: StreamEvent[] = [];
  let cursor = from;
  for (let more = true; more;) {
    const page = await readEvents(insight, cursor, limit);
    expect(page.isGap).toBe(false);
    expect(page.events.length).toBeLessThanOrEqual(limit);
    events.push(...page.events);
    ({ cursor, isMore: more } = page);
  }
  return { events, cursor };
}
