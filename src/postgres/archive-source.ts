import {
  type ArchiveBatch,
  archiveLimits,
  type ArchivePart,
  type ArchiveSource,
  type ArchiveWritten,
} from "../insight/archive.ts";
import type { StoreTx } from "../machine/transaction.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import type { Connections } from "./connect.ts";
import { isLockTimeout } from "./failure.ts";
import { postgresLimits } from "./postgres-limits.ts";
import { createSession, type Session } from "./session.ts";
import * as sql from "./sql/archive.ts";
import * as day from "./sql/archive-day.ts";
import { dropPartition, partitionWork } from "./sql/prune.ts";
import { execute, type Statement } from "./statement.ts";

/** How a batch is found again when it leaves: rows by place and version, or a day by how far it was written. */
type Leaving =
  | { readonly is: "rows"; readonly rows: readonly sql.ArchiveRow[] }
  | { readonly is: "day"; readonly day: string; readonly from: string; readonly to: string };

type DayPart = "events" | "history";
const parentOf = { events: "event", history: "history" } as const;
const { objectRowsMax, objectBytesMax, rowsWaitMs, batchRunsMax } = archiveLimits;
const bounds = [objectRowsMax, objectBytesMax, rowsWaitMs] as const;

/** What a row that was not as it was read ends the transaction with. */
class Changed extends Error {}

/** The rows that wait for the archive, on the connections for short statements. */
export function createArchiveSource(connections: Connections): ArchiveSource {
  const session = createSession(connections.main, connections.where);
  return {
    async next(part) {
      if (part === "events" || part === "history") return nextOfDay(session, part);
      return batchOf(part, await readRows(session, reads[part], [...bounds, ...more[part]]));
    },
    async leave(batch, written) {
      try {
        await session.transaction((tx) => leave(tx, batch as ArchiveBatch<Leaving>, written));
        return true;
      } catch (error) {
        if (error instanceof Changed || isLockTimeout(error)) return false;
        throw error;
      }
    },
    async failed(part, error) {
      await session.run(day.archiveFailed, [part, error]);
    },
  };
}

const reads = {
  jobs: sql.archiveJobs,
  runs: sql.archiveRuns,
  occurrences: sql.archiveOccurrences,
  audit: sql.archiveAudit,
} as const;
const more = { jobs: [], runs: [batchRunsMax], occurrences: [contractLimits.historyMs], audit: [] } as const;

const readRows = (session: Session, read: Statement<sql.ArchiveRow>, values: unknown[]): Promise<sql.ArchiveRow[]> =>
  session.transaction(async (tx) => {
    await execute(tx, sql.readInUtc);
    return execute(tx, read, values);
  });

const batchOf = (part: ArchivePart, rows: readonly sql.ArchiveRow[]): ArchiveBatch<Leaving> | null =>
  rows.length === 0 ? null : { part, rows: shown(rows), isFull: isFull(rows), leaving: { is: "rows", rows } };

/** By half an object's rows, half its bytes or half the runs that are looked at: so many are written at once. */
function isFull(rows: readonly sql.ArchiveRow[]): boolean {
  const bytes = rows.reduce((sum, { line }) => sum + line.length, 0);
  const runs = rows.filter((row) => row.of === "run").length;
  return rows.length * 2 >= objectRowsMax || bytes * 2 >= objectBytesMax || runs * 2 >= batchRunsMax;
}

const shown = (rows: readonly sql.ArchiveRow[]): ArchiveBatch["rows"] =>
  rows.map(({ of: table, number, kind, at, line }) => ({ table, number, kind, at, line }));

/** The next page of the oldest day past its retention; no row when it has no more; else rows that had no day. */
async function nextOfDay(session: Session, part: DayPart): Promise<ArchiveBatch<Leaving> | null> {
  const work = await session.run(partitionWork, [postgresLimits.partitionDaysAhead, contractLimits.historyMs]);
  const oldest = work.find(({ parent, action }) => parent === parentOf[part] && action === "drop");
  if (oldest === undefined) {
    const read = part === "events" ? day.archiveRestOfEvents : day.archiveRestOfHistories;
    return batchOf(part, await readRows(session, read, [objectRowsMax, objectBytesMax, contractLimits.historyMs]));
  }
  const [{ behind } = { behind: "" }] = await session.run(day.archiveBehind, [part]);
  const [ofDay, place = ""] = behind.split(" ");
  const [first = "0", second = "0"] = ofDay === oldest.day && place !== "" ? place.split("/") : [];
  const page = [objectRowsMax, objectBytesMax, beginOf(oldest.day), first];
  const rows = await (part === "events"
    ? readRows(session, day.archiveEvents, page)
    : readRows(session, day.archiveHistories, [...page, second]));
  const to = `${oldest.day} ${rows.at(-1)?.place ?? ""}`;
  return { part, rows: shown(rows), isFull: isFull(rows), leaving: { is: "day", day: oldest.day, from: behind, to } };
}

/** Of a day as partitions name it, `YYYYMMDD`, in UTC. */
const beginOf = (day: string): number => Date.parse(day.replace(/^(\d{4})(\d\d)(\d\d)$/, "$1-$2-$3"));

/** @throws Changed, so that nothing of it happens. */
async function leave(
  tx: StoreTx,
  { part, rows, leaving }: ArchiveBatch<Leaving>,
  written: ArchiveWritten,
): Promise<void> {
  if (leaving.is === "day") await leaveDay(tx, part as DayPart, leaving, rows.length === 0);
  else if ((await deleteRows(tx, part, leaving.rows)) !== rows.length) throw new Changed();
  if (rows.length === 0) return;
  const until = Math.max(...rows.map(({ at }) => at));
  await execute(tx, day.archiveCount, [part, written.objects, rows.length, written.bytes, until]);
}

async function leaveDay(
  tx: StoreTx,
  part: DayPart,
  { from, to, day: name }: Leaving & { is: "day" },
  isWhole: boolean,
): Promise<void> {
  const moved = await execute(tx, day.archiveForward, [part, from, isWhole ? "" : to]);
  if (moved.length === 0) throw new Changed();
  if (isWhole) await execute(tx, dropPartition, [parentOf[part], name]);
}

const leaves = {
  jobs: sql.leaveJobs,
  runs: sql.leaveRuns,
  occurrences: sql.leaveOccurrences,
  audit: sql.leaveAudit,
  events: day.leaveRestOfEvents,
  history: day.leaveRestOfHistories,
} as const;

/** @returns how many of them were as they had been read, and are gone. */
async function deleteRows(tx: StoreTx, part: ArchivePart, rows: readonly sql.ArchiveRow[]): Promise<number> {
  const of = (each: readonly sql.ArchiveRow[]) => [each.map(({ place }) => place), each.map(({ version }) => version)];
  const values =
    part === "runs" ? ["job", "run"].flatMap((table) => of(rows.filter((row) => row.of === table))) : of(rows);
  // Nothing changes a row of the audit, so it has no version.
  const [left] = await execute(tx, leaves[part], part === "audit" ? values.slice(0, 1) : values);
  return left?.gone ?? 0;
}
