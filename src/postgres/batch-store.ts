import type { BatchStore } from "../machine/batch-store.ts";
import type { JobId } from "../machine/job.ts";
import { byId, outboxOf } from "./outbox.ts";
import type { Session } from "./session.ts";
import { fullBatches, gatherBatch } from "./sql/batch.ts";
import { redispatchNow, runNow } from "./sql/relay.ts";
import { columns } from "./statement.ts";

export function batchStore(session: Session) {
  const dispatch = async (rows: readonly { readonly id: string }[]) =>
    rows.length === 0 ? [] : outboxOf(await session.run(runNow, [rows.map(({ id }) => id), null, null]));
  return {
    async gather(started) {
      const rising = started.toSorted((a, b) => byId(a.jobId, b.jobId));
      const rows = await session.run(gatherBatch, columns(rising, "jobId", "max", "waitMs"));
      const outbox = await dispatch(rows.filter(({ out }) => !out));
      const dispatched = new Map(outbox.flatMap(({ messages }) => messages.map((sent) => [String(sent.jobId), sent])));
      const jobs = rows.map(({ id, of, started: isStarted, out: _out, ...row }) => ({
        ...row,
        generation: dispatched.get(id)?.generation ?? row.generation,
        jobId: id as JobId,
        of: of as JobId,
        isStarted,
      }));
      return { jobs, outbox };
    },
    async startFull(batches) {
      const distinct = [...new Map(batches.map((of) => [`${of.kind} ${of.key}`, of])).values()];
      const full = await session.run(fullBatches, columns(distinct, "kind", "key", "max", "waitMs"));
      return full.length === 0
        ? []
        : [...(await dispatch(full)), ...outboxOf(await session.run(redispatchNow, [full.map(({ id }) => id)]))];
    },
  } satisfies BatchStore;
}
