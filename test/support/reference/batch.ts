import type { BatchOf } from "../../../src/machine/job.ts";
import type { BatchStore, Gathered } from "../../../src/machine/batch-store.ts";
import type { OutboxBatch } from "../../../src/machine/outbox.ts";
import { runNow } from "./lanes.ts";
import { byDue } from "./outbox.ts";
import type { JobRow } from "./rows.ts";
import { idOf, type Tables } from "./tables.ts";

/** What may be started with a job of this batch, the earliest first. */
const waiting = (t: Tables, { kind, key, waitMs }: BatchOf): JobRow[] =>
  t
    .inStates("PENDING", "QUEUED", "RETRY_WAIT")
    .filter((row) => isFree(row) && row.kind === kind && row.batchKey === key && row.dueAt <= t.now() + waitMs)
    .toSorted(byDue);

const isFree = ({ hold, blocked, alone }: JobRow): boolean => hold === "none" && !blocked && !alone;

export function gather(
  t: Tables,
  started: Parameters<BatchStore["gather"]>[0],
): Awaited<ReturnType<BatchStore["gather"]>> {
  const sent: JobRow[] = [];
  const rows = started
    .map(({ jobId, ...rule }) => ({ ...rule, row: t.jobs.row(Number(jobId)) }))
    .filter(({ row }) => row.batchKey !== null)
    .toSorted((a, b) => a.row.id - b.row.id);
  const batches = Map.groupBy(rows, ({ row }) => JSON.stringify([row.kind, row.batchKey, row.lane]));
  const jobs = [...batches.values()].flatMap((members): Gathered[] => {
    const [first] = members;
    if (first === undefined) return [];
    const { row, max, waitMs } = first;
    const of = { kind: row.kind, key: row.batchKey ?? "", max, waitMs };
    const others = waiting(t, of).filter(({ lane }) => lane === row.lane);
    const taken = others.slice(0, (max - (members.length % max)) % max).toSorted((a, b) => a.id - b.id);
    return [...members.map((each) => each.row), ...taken].map((each) => {
      const noted = t.change(each, { batchOf: idOf(row), dueAt: Math.min(each.dueAt, t.now()) });
      const isOut = noted.state === "QUEUED" || noted.state === "RUNNING";
      if (!isOut) sent.push(t.queue(noted, { dueAt: t.now() }));
      const { generation, trace, kind } = isOut ? noted : (sent.at(-1) ?? noted);
      return {
        jobId: idOf(each),
        generation,
        trace,
        kind,
        key: of.key,
        of: idOf(row),
        isStarted: !taken.includes(each),
      };
    });
  });
  return { jobs, outbox: t.dispatch(sent) };
}

export function startFull(t: Tables, batches: readonly BatchOf[]): readonly OutboxBatch[] {
  const first = batches.flatMap((of) => {
    const rows = waiting(t, of).slice(0, of.max);
    return rows.length === of.max && rows.every(({ dueAt }) => dueAt > t.now()) ? rows.slice(0, 1) : [];
  });
  return runNow(t, first.map(idOf), {}, null).aftermath.outbox;
}
