import { operationsLimits } from "../../core/ports/operations-limits.ts";
import type { Store } from "../../core/ports/ports.ts";
import { type State, states } from "../../core/job/state.ts";
import { indexFor } from "./search-store.ts";
import type { Session } from "./session.ts";
import { countStates, readHistory, readJob, readJobs } from "./sql/read.ts";
import { selectNow } from "./sql/transaction.ts";

export function readStore(session: Session): Pick<Store, "now" | "job" | "jobs" | "counts"> {
  return {
    async now() {
      const [row] = await session.run(selectNow);
      return row?.now ?? 0;
    },
    async job(id) {
      const [row] = await session.run(readJob, [id]);
      if (row === undefined) return null;
      const { now, ...job } = row;
      const history = await session.run(readHistory, [id, operationsLimits.historyRowsMax]);
      return { job, history, now };
    },
    async jobs({ states: among, kind, lane, key, before, limit }) {
      const { isLive, isFailed } = indexFor(among);
      const filter = [among, kind, lane, key, before].map((value) => value ?? null);
      return await session.run(readJobs, [...filter, limit, isLive, isFailed]);
    },
    async counts() {
      const rows = await session.run(countStates, [operationsLimits.countedRowsMax]);
      const found = new Map(rows.map((row) => [row.state, row.jobs]));
      const counts = states.map((state) => [state, found.get(state) ?? 0] as const);
      return { ...(Object.fromEntries(counts) as Record<State, number>), notYetDue: rows[0]?.ahead ?? 0 };
    },
  };
}
