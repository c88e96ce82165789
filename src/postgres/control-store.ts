import { isByKey } from "../admission/slots.ts";
import type { JobId } from "../machine/job.ts";
import { noAftermath } from "../machine/outbox.ts";
import { scheduleLimits } from "../machine/schedule.ts";
import { iso } from "../machine/units.ts";
import { type Store } from "../machine/store.ts";
import { aftermathOf, moveRows } from "./outbox.ts";
import { reasons } from "../machine/reasons.ts";
import type { Session } from "./session.ts";
import { addSlots, cancelOpen, freeLeftSlots, retireSlots, retryEnded, writeGroups } from "./sql/control.ts";
import { lookReplaced } from "./sql/replaced.ts";
import { lockUnits, takeUnit } from "./sql/unit.ts";
import { columns, execute } from "./statement.ts";
import type { LaneBlackouts, LaneStore } from "../machine/lane-store.ts";
import { pauseValues, unholdOpen, unholdPaused, writeBlackouts, writePause } from "./sql/lane.ts";
import { redispatchNow, runNow } from "./sql/relay.ts";

export function controlStore(session: Session) {
  return {
    cancel: (ids, options = {}) =>
      moveRows(session, cancelOpen, [ids, options.reason ?? "canceled", false, options.caller ?? null], options),
    replaced: (keys, claimed = []) =>
      session.run(lookReplaced, [keys === "all" ? null : keys, claimed, scheduleLimits.replacedMax]),
    async retry(ids, { dueAt = 0, paceMs = 0, caller } = {}) {
      const rows = await session.run(retryEnded, [ids, dueAt, paceMs, session.dispatchWindowMs, caller ?? null]);
      return { ids: rows.map((row) => row.id as JobId), aftermath: aftermathOf(rows) };
    },
    async freeSlots(held) {
      if (held.length === 0) return noAftermath;
      const rows = await session.run(freeLeftSlots, columns(held, "jobId", "attempt"));
      return { ...noAftermath, freed: rows.map((row) => row.key) };
    },
    async takeUnit(key, { withinMs }) {
      const row = await session.transaction(async (tx) => {
        await execute(tx, lockUnits, [key]);
        return (await execute(tx, takeUnit, [key, withinMs]))[0];
      });
      if (row === undefined) return null;
      const { isWaitedFor, ...unit } = row;
      return { ...unit, aftermath: isWaitedFor && unit.isTaken ? { ...noAftermath, freed: [key] } : noAftermath };
    },
    async installSlots(groups, { onlyNew = false } = {}) {
      if (groups.length === 0) return;
      await session.transaction(async (tx) => {
        await execute(tx, writeGroups, [...columns(groups, "key", "size", "onRefusal", "reason", "windowMs"), onlyNew]);
        await execute(tx, addSlots, [groups.filter((group) => !isByKey(group)).map(({ key }) => key)]);
        await execute(tx, retireSlots, columns(groups, "key"));
      });
    },
  } satisfies Partial<Store>;
}

export function laneStore(session: Session) {
  return {
    async installBlackouts(lanes) {
      const texts = lanes.map(({ windows }) => `{${windows.map(rangeText).join()}}`);
      return (await session.run(writeBlackouts, [lanes.map(({ lane }) => lane), texts])).length;
    },
    async pauseLane(lane, pause) {
      await session.run(writePause, [lane, ...pauseValues(pause)]);
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
      return { ids: rows.map(({ id }) => id as JobId), aftermath: aftermathOf(rows) };
    },
  } satisfies Partial<LaneStore>;
}

const rangeText = ({ from, until }: LaneBlackouts["windows"][number]): string => `[${iso(from)},${iso(until)})`;
