/** One look at the events of DATABASE_URL behind the cursor given as argument, and one of the roll-up. Prints what it saw as JSON. */
import { openConnections } from "../../src/postgres/connect.ts";
import { createSession } from "../../src/postgres/session.ts";
import { createTally } from "../../src/postgres/tally.ts";
import { createDatabase } from "../../src/postgres/database.ts";
import type { StreamCursor } from "../../src/insight/event-stream.ts";
import { readEvents } from "../../src/insight/stream.ts";
import { readMinutes } from "../../src/insight/minutes.ts";

const connections = openConnections({ url: process.env["DATABASE_URL"] ?? "", applicationName: "belfry proof" });
try {
  const tally = createTally(createSession(connections.main, connections.where));
  const insight = createDatabase(connections);
  const [, , cursor] = process.argv;
  const page = await readEvents(insight, cursor === undefined ? null : (cursor as StreamCursor), 1_000);
  while ((await tally.rollUp(1_000)) > 0);
  const minutes = await createDatabase(connections).run(readMinutes, { back: 1e6, kinds: null, lane: null });
  const created = minutes.reduce((sum, minute) => sum + minute.created, 0);
  process.stdout.write(
    JSON.stringify({ ids: page.events.map(({ id }) => id), cursor: page.cursor, isGap: page.isGap, created }),
  );
} finally {
  await connections.close();
}
