/** One look at the events of DATABASE_URL behind the cursor given as argument, and one of the roll-up. Prints what it saw as JSON. */
import { openConnections } from "../../src/adapters/postgres/connect.ts";
import { createOperations } from "../../src/adapters/postgres/operations.ts";
import type { StreamCursor } from "../../src/core/ports/event-stream.ts";

const connections = openConnections({ url: process.env["DATABASE_URL"] ?? "", applicationName: "belfry proof" });
try {
  const operations = createOperations(connections);
  const [, , cursor] = process.argv;
  const page = await operations.stream(cursor === undefined ? null : (cursor as StreamCursor), 1_000);
  while ((await operations.rollUp(1_000)) > 0);
  const minutes = await operations.minutes({ since: 0, kinds: null, lane: null });
  const created = minutes.reduce((sum, minute) => sum + minute.created, 0);
  process.stdout.write(
    JSON.stringify({ ids: page.events.map(({ id }) => id), cursor: page.cursor, isGap: page.isGap, created }),
  );
} finally {
  await connections.close();
}
