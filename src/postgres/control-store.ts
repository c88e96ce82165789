import { isByKey } from "../admission/slots.ts";
import type { JobId } from "../machine/job.ts";
import { noAftermath } from "../machine/aftermath.ts";
import { type Store } from "../machine/store.ts";
import { moveRows } from "./moved.ts";
import { aftermathOf } from "./outbox.ts";
import type { Session } from "./session.ts";
import { addSlots, cancelOpen, freeLeftSlots, retireSlots, retryEnded, writeGroups } from "./sql/control.ts";
import { execute } from "./statement.ts";

export function controlStore(session: Session): Pick<Store, "cancel" | "retry" | "freeSlots" | "installSlots"> {
  return {
    cancel: (ids, options = {}) =>
      moveRows(session, cancelOpen, [ids, "canceled", false, options.caller ?? null], options),
    async retry(ids, { caller } = {}) {
      const rows = await session.run(retryEnded, [ids, caller ?? null]);
      return { ids: rows.map((row) => row.id as JobId), aftermath: aftermathOf(rows) };
    },
    async freeSlots(held) {
      if (held.length === 0) return noAftermath;
      const rows = await session.run(freeLeftSlots, [held.map((each) => each.jobId), held.map((each) => each.attempt)]);
      return { ...noAftermath, freed: rows.map((row) => row.key) };
    },
    async installSlots(groups) {
      if (groups.length === 0) return;
      const keys = groups.map((group) => group.key);
      const sizes = groups.map((group) => group.size);
      const refusals = groups.map((group) => group.onRefusal);
      const reasons = groups.map((group) => group.reason);
      await session.transaction(async (tx) => {
        await execute(tx, writeGroups, [
          keys,
          sizes,
          refusals,
          reasons,
          groups.map(({ windowMs }) => windowMs ?? null),
        ]);
        await execute(tx, addSlots, [groups.filter((group) => !isByKey(group)).map(({ key }) => key)]);
        await execute(tx, retireSlots, [keys]);
      });
    },
  };
}
