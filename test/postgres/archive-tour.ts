import { createArchiveSource } from "../../src/postgres/archive-source.ts";
import { createDatabase } from "../../src/postgres/database.ts";
import { archiveLag } from "../../src/insight/archived.ts";
import type { Connections } from "../../src/postgres/connect.ts";
import { type ArchiveBatch, type ArchivePart, archiveParts } from "../../src/insight/archive.ts";

const day = "20000101";
const written = { objects: 1, bytes: 10 };
const row = { table: "event", number: "1", kind: null, at: 0, line: "{}" } as const;
const emptyPage = (part: ArchivePart): ArchiveBatch => ({
  part,
  rows: [],
  isFull: false,
  leaving: { is: "rows", rows: [] },
});

/** Uses every verb of the archive's source, so that every statement runs: of each part, and of a day that is past. */
export async function archiveTour(connections: Connections): Promise<void> {
  const source = createArchiveSource(connections);
  for (const part of archiveParts) {
    await source.next(part);
    await source.leave(emptyPage(part), written);
    await source.failed(part, "NoSuchBucket");
  }
  await createDatabase(connections, { checksRows: true }).run(archiveLag, {});
  for (const [part, parent] of [
    ["events", "event"],
    ["history", "history"],
  ] as const) {
    const client = await connections.main.connect();
    await client.query("select belfry.make_partition($1, $2)", [parent, day]);
    client.release();
    await source.leave(
      { part, rows: [row], isFull: false, leaving: { is: "day", day, from: "", to: `${day} 1/1` } },
      written,
    );
    const last = await source.next(part);
    if (last !== null) await source.leave(last, written);
  }
}
