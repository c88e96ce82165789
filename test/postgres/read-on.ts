import { expect } from "vitest";
import type { StreamCursor, StreamEvent } from "../../src/core/ports/event-stream.ts";
import type { Operations } from "../../src/core/ports/operations.ts";

/** Reads the stream by pages of so many moves until a page says that there is no more. */
export async function readOn(
  operations: Operations,
  from: StreamCursor,
  limit: number,
): Promise<{ events: readonly StreamEvent[]; cursor: StreamCursor }> {
  const events: StreamEvent[] = [];
  let cursor = from;
  for (let more = true; more;) {
    const page = await operations.stream(cursor, limit);
    expect(page.isGap).toBe(false);
    expect(page.events.length).toBeLessThanOrEqual(limit);
    events.push(...page.events);
    ({ cursor, isMore: more } = page);
  }
  return { events, cursor };
}
