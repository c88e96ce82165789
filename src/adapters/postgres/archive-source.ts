import type { ArchiveBatch, ArchivePart, ArchiveSource, ArchiveWritten } from "../../core/ports/archive.ts";
import type { StoreTx } from "../../core/ports/ports.ts";
import { archiveLimits } from "../../core/scheduler/archive-limits.ts";
import { contractLimits } from "../../core/job/contract-limits.ts";
import type { Connections } from "./connect.ts";
import { isLockTimeout } from "./failure.ts";
import { postgresLimits } from "./postgres-limits.ts";
import { createSession, type Session } from "./session.ts";
import {
  archiveAudit,
  archiveJobs,
  archiveOccurrences,
  type ArchiveRow,
  archiveRuns,
  leaveAudit,
  leaveJobs,
  leaveOccurrences,
  leaveRuns,
  readInUtc,
} from "./sql/archive.ts";
import * as day from "./sql/archive-day.ts";
import { dropPartition, partitionWork } from "./sql/prune.ts";
import { execute, type Statement } from "./statement.ts";

/** How a batch is found again when it leaves: rows by place and version, or a day by how far it was written. */
type Leaving =
  | { readonly is: "rows"; readonly rows: readonly ArchiveRow[]; readonly isRest: boolean }
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

const reads = { jobs: archiveJobs, runs: archiveRuns, occurrences: archiveOccurrences, audit: archiveAudit } as const;
const more = { jobs: [], runs: [batchRunsMax], occurrences: [contractLimits.historyMs], audit: [] } as const;

const readRows = (session: Session, read: Statement<ArchiveRow>, values: unknown[]): Promise<ArchiveRow[]> =>
  session.transaction(async (tx) => {
    await execute(tx, readInUtc);
    return execute(tx, read, values);
  });

function batchOf(part: ArchivePart, rows: readonly ArchiveRow[], isRest = false): ArchiveBatch<Leaving> | null {
  return rows.length === 0
    ? null
    : { part, rows: shown(rows), isFull: isFull(rows), leaving: { is: "rows", rows, isRest } };
}

/** By half an object's rows, half its bytes or half the runs that are looked at: so many are written at once. */
function isFull(rows: readonly ArchiveRow[]): boolean {
  const bytes = rows.reduce((sum, { line }) => sum + line.length, 0);
  const runs = rows.filter((row) => row.of === "run").length;
  return rows.length * 2 >= objectRowsMax || bytes * 2 >= objectBytesMax || runs * 2 >= batchRunsMax;
}

const shown = (rows: readonly ArchiveRow[]): ArchiveBatch["rows"] =>
  rows.map(({ of: table, number, kind, at, line }) => ({ table, number, kind, at, line }));

/** The next page of the oldest day past its retention; no row when it has no more; else rows that had no day. */
async function nextOfDay(session: Session, part: DayPart): Promise<ArchiveBatch<Leaving> | null> {
  const work = await session.run(partitionWork, [postgresLimits.partitionDaysAhead, contractLimits.historyMs]);
  const oldest = work.find(({ parent, action }) => parent === parentOf[part] && action === "drop");
  if (oldest === undefined) {
    const read = part === "events" ? day.archiveRestOfEvents : day.archiveRestOfHistories;
    return batchOf(
      part,
      await readRows(session, read, [objectRowsMax, objectBytesMax, contractLimits.historyMs]),
      true,
    );
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
  else if ((await deleteRows(tx, part, leaving)) !== rows.length) throw new Changed();
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

/** @returns how many of them were as they had been read, and are gone. */
async function deleteRows(tx: StoreTx, part: ArchivePart, { rows, isRest }: Leaving & { is: "rows" }): Promise<number> {
  const places = rows.map(({ place }) => place);
  const versions = rows.map(({ version }) => version);
  const counted = async (leaving: Statement<{ gone: number }>, values: unknown[]) =>
    (await execute(tx, leaving, values))[0]?.gone ?? 0;
  if (isRest) return counted(part === "events" ? day.leaveRestOfEvents : day.leaveRestOfHistories, [places, versions]);
  if (part === "jobs") return counted(leaveJobs, [places, versions]);
  if (part === "runs") {
    const of = (table: string) => rows.filter((row) => row.of === table);
    const [jobs, runs] = [of("job"), of("run")];
    return counted(
      leaveRuns,
      [jobs, runs].flatMap((each) => [each.map(({ place }) => place), each.map(({ version }) => version)]),
    );
  }
  return counted(part === "audit" ? leaveAudit : leaveOccurrences, part === "audit" ? [places] : [places, versions]);
}
