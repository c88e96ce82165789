import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { ArchiveBatch, ArchivedRow, ArchiveWritten, ObjectStore } from "../../insight/archive.ts";

const zipped = promisify(gzip);

export interface ArchiveNames {
  readonly stage: string;
  /** What is hidden of a row, as everywhere else. @returns its line. */
  readonly shown: (row: ArchivedRow) => string;
}

/** One object for each table and day of the batch. */
export async function writeBatch(
  store: Pick<ObjectStore, "write">,
  { rows }: Pick<ArchiveBatch, "rows">,
  { stage, shown }: ArchiveNames,
): Promise<ArchiveWritten> {
  let bytes = 0;
  const groups = Map.groupBy(rows, ({ table, at }) => `${stage}/${table}/${dayOf(at)}`);
  for (const [folder, group] of groups) {
    const text = group.map((row) => `${shown(row)}\n`).join("");
    const body = await zipped(text);
    await store.write(`${folder}/${nameOf(group, text)}.ndjson.gz`, body);
    bytes += body.length;
  }
  return { objects: groups.size, bytes };
}

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10).replaceAll("-", "/");

/**
 * First and last row, and a hash of the content: a batch that is repeated after a crash replaces its object, and no other content
 * ever does, even where a restored database gives out numbers again.
 */
function nameOf(rows: readonly ArchivedRow[], text: string): string {
  const numbers = rows.map(({ number }) => BigInt(number)).toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 16);
  return `${numbers.at(0)}-${numbers.at(-1)}-${hash}`;
}
