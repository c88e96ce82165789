import type { JobId } from "../machine/job.ts";
import type { LaneStore } from "../machine/lane-store.ts";
import { reasons } from "../machine/reasons.ts";
import { newestColumns } from "./newest.ts";
import { aftermathOf } from "./outbox.ts";
import { pauseValues } from "./pause.ts";
import type { Session } from "./session.ts";
import { holdPaused, readPause, unholdOpen, unholdPaused, writePause } from "./sql/lane.ts";
import { retryPaced } from "./sql/control.ts";
import { redispatchNow, runNow } from "./sql/relay.ts";

export function laneStore(session: Session): LaneStore {
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
        ...(await session.run(runNow, [wanted, caller ?? null, reasons.runNow])),
        ...(await session.run(redispatchNow, [wanted])),
      ];
      return { ids: ids(rows), aftermath: aftermathOf(rows) };
    },
    async retryPaced(wanted, { dueAt, paceMs, caller }) {
      const values = [wanted, dueAt, paceMs, session.dispatchWindowMs, caller ?? null];
      const rows = await session.run(retryPaced, values);
      return { ids: ids(rows), aftermath: aftermathOf(rows) };
    },
  };
}
