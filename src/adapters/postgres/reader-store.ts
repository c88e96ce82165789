import { publishLimits } from "../../core/ports/publish-limits.ts";
import type { StreamCursor } from "../../core/ports/event-stream.ts";
import type { Operations } from "../../core/ports/operations.ts";
import type { Session } from "./session.ts";
import { advanceReader, createReader, failReader, markPublished, readReader, takeReader } from "./sql/reader.ts";
import { columns, execute } from "./statement.ts";
import { eventRowsOf, streamStore } from "./stream-store.ts";

/** Named readers of the events, each with its place. */
export function readerStore(
  session: Session,
): Pick<Operations, "reader" | "takeReader" | "failReader" | "markPublished"> {
  return {
    async reader(name) {
      const [row] = await session.run(readReader, [name]);
      if (row !== undefined) return { cursor: row.upto as StreamCursor, version: row.version };
      const { cursor } = await streamStore(session).stream(null, 1);
      await session.run(createReader, [name, cursor]);
      return null;
    },
    async takeReader(name, { owner, version }) {
      const [row] = await session.run(takeReader, [name, owner, version, publishLimits.publishLeaseMs]);
      return row?.version ?? null;
    },
    async failReader(name, { owner, version }) {
      await session.run(failReader, [
        name,
        owner,
        version,
        publishLimits.publishRetryMs,
        publishLimits.publishRetryMsMax,
      ]);
    },
    markPublished: (name, { owner, version, cursor, events }) =>
      session.transaction(async (tx) => {
        const advanced = await execute(tx, advanceReader, [name, owner, version, cursor]);
        if (advanced.length === 0) return false;
        if (events.length === 0) return true;
        const times = events.map((event) => event.at);
        const rows = columns(
          eventRowsOf(events),
          (row) => row.xid,
          (row) => row.id,
          (row) => row.place,
        );
        await execute(tx, markPublished, [...rows, Math.min(...times), Math.max(...times)]);
        return true;
      }),
  };
}
