import type { JobId } from "../../core/job/job.ts";
import { operationsLimits } from "../../core/ports/operations-limits.ts";
import type { Bulk } from "../../core/ports/bulk.ts";
import type { JobSearch } from "../../core/ports/job-search.ts";
import type { Operations } from "../../core/ports/operations.ts";
import { newestColumns } from "./newest.ts";
import { aftermathOf } from "./outbox.ts";
import { pauseValues } from "./pause.ts";
import { parameter } from "./search-store.ts";
import type { Session } from "./session.ts";
import {
  advanceBackfill,
  advanceBulk,
  type BulkRow,
  createBulk,
  judgeCanaries,
  readBulks,
  sendCanaries,
  stopBulk,
  takeBulk,
} from "./sql/bulk.ts";
import { holdPaused, readPause, unholdOpen, unholdPaused, writePause } from "./sql/lane.ts";
import { retryPaced } from "./sql/control.ts";
import { redispatchNow, runNow } from "./sql/relay.ts";
import { findEdgeBelow, findMatches } from "./sql/search.ts";

type SteerStore = Pick<
  Operations,
  | "pauseLane"
  | "isPaused"
  | "holdPaused"
  | "unholdPaused"
  | "unholdOpen"
  | "runNow"
  | "retryPaced"
  | "createBulk"
  | "bulks"
  | "takeBulk"
  | "sendCanaries"
  | "bulkPage"
  | "advanceBulk"
  | "advanceBackfill"
  | "stopBulk"
>;

/** Changes by operators: lanes, single jobs, and many jobs in pages. */
export function steerStore(session: Session): SteerStore {
  const ids = (rows: readonly { id: string }[]): readonly JobId[] => rows.map((row) => row.id as JobId);
  return {
    async pauseLane(lane, pause) {
      await session.run(writePause, [lane, ...pauseValues(pause)]);
    },
    async isPaused(lane) {
      return (await session.run(readPause, [lane]))[0]?.paused ?? false;
    },
    async holdPaused(messages) {
      return ids(await session.run(holdPaused, newestColumns(messages)));
    },
    async unholdPaused(lane, limit) {
      return (await session.run(unholdPaused, [lane, limit])).length;
    },
    async unholdOpen(limit) {
      return (await session.run(unholdOpen, [limit])).length;
    },
    async runNow(wanted, { caller } = {}) {
      const rows = [
        ...(await session.run(runNow, [wanted, caller ?? null])),
        ...(await session.run(redispatchNow, [wanted])),
      ];
      return { ids: ids(rows), aftermath: aftermathOf(rows) };
    },
    async retryPaced(wanted, { dueAt, paceMs, caller }) {
      const values = [wanted, dueAt, paceMs, session.dispatchWindowMs, caller ?? null];
      const rows = await session.run(retryPaced, values);
      return { ids: ids(rows), aftermath: aftermathOf(rows) };
    },
    ...bulkStore(session),
  };
}

function bulkStore(
  session: Session,
): Pick<
  SteerStore,
  "createBulk" | "bulks" | "takeBulk" | "sendCanaries" | "bulkPage" | "advanceBulk" | "advanceBackfill" | "stopBulk"
> {
  return {
    async createBulk({ action, search, caller, matched, paceMs, canary }) {
      const values = [action, JSON.stringify(search), caller, matched.count, matched.isMore, paceMs, canary];
      const [row] = await session.run(createBulk, values);
      if (row === undefined) throw new Error("the change of many jobs was not written");
      return bulkOf(row);
    },
    async bulks({ id, before, limit }) {
      return (await session.run(readBulks, [id ?? null, before ?? null, limit])).map(bulkOf);
    },
    async takeBulk(owner) {
      await session.run(judgeCanaries);
      const [row] = await session.run(takeBulk, [owner, operationsLimits.bulkLeaseMs, operationsLimits.bulkAheadMs]);
      return row === undefined ? null : bulkOf(row);
    },
    async sendCanaries(id, owner, { jobs, takenAlong }) {
      return (await session.run(sendCanaries, [id, owner, jobs, jobs.length, takenAlong])).length > 0;
    },
    async bulkPage({ search, next }, limit) {
      const filter = parameter(search);
      const [edge] = await session.run(findEdgeBelow, [filter, next, operationsLimits.searchRowsMax]);
      const rows = await session.run(findMatches, [filter, next, edge?.id ?? "0", limit]);
      const last = rows.length === limit ? rows.at(-1)?.id : edge?.id;
      return { ids: rows.map((row) => row.id as JobId), next: last ?? null };
    },
    async advanceBulk(id, owner, { next, changed, takenAlong, refused }) {
      const values = [id, owner, next ?? "0", changed, takenAlong, refused, next === null];
      return (await session.run(advanceBulk, values)).length > 0;
    },
    async advanceBackfill(id, owner, { changed, refused, isLast }) {
      return (await session.run(advanceBackfill, [id, owner, changed, refused, isLast])).length > 0;
    },
    async stopBulk(id) {
      return (await session.run(stopBulk, [id])).length > 0;
    },
  };
}

const bulkOf = (row: BulkRow): Bulk => ({
  id: row.id,
  action: row.action,
  search: row.filter as JobSearch,
  caller: row.caller,
  state: row.state,
  next: row.next,
  matched: { count: row.matched, isMore: row.is_more },
  paceMs: row.pace_ms,
  dueAt: row.due_at,
  canary: row.canary === "none" ? null : { state: row.canary, jobs: row.canaries as JobId[] },
  changed: row.changed,
  takenAlong: row.taken_along,
  refused: row.refused,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  finishedAt: row.finished_at,
});
