import { iso } from "../../core/job/units.ts";
import type { FenceView } from "../../core/ports/overview.ts";
import { schedulerLock } from "../../core/scheduler/pass.ts";
import { type Endpoint, endpoint } from "../endpoint.ts";
import type { ApiOptions } from "../options.ts";
import { lockList, type LockReply } from "../shape/overview.ts";
import { maybeIso } from "../shape/shape.ts";
import { slotUseJson } from "./lanes.ts";

/** GET /locks: the scheduler's and the schedules' own in the lock store, and the locks of jobs, which are slots. */
export function lockEndpoints(options: ApiOptions): readonly Endpoint[] {
  return [
    endpoint("GET /locks", {
      name: "listLocks",
      summary: "Who holds which lock, under which fence",
      scope: "everything",
      replies: { 200: lockList },
      async handle() {
        const { operations } = options;
        const [fences, jobLocks] = await Promise.all([operations.fences(), operations.slots("lock:")]);
        const names = [...new Set([schedulerLock, ...fences.map((fence) => fence.name)])];
        const byName = new Map(fences.map((fence) => [fence.name, fence]));
        const locks = await Promise.all(names.map((name) => lockJson(options, name, byName.get(name) ?? null)));
        return { status: 200, body: { locks, jobLocks: jobLocks.map(slotUseJson) } };
      },
    }),
  ];
}

/** The lock store may be away: then what Postgres knows is shown. */
async function lockJson({ locks, ports }: ApiOptions, name: string, fence: FenceView | null): Promise<LockReply> {
  const known = {
    name,
    installedAt: maybeIso(fence?.installedAt ?? null),
    fallback: fence?.fallback == null ? null : { ...fence.fallback, leaseUntil: iso(fence.fallback.leaseUntil) },
  };
  try {
    const item = await locks.read(name);
    return {
      ...known,
      holder: item?.owner ?? null,
      fence: item?.fence ?? fence?.token ?? null,
      leaseMs: item?.leaseMs ?? null,
      isStoreUp: true,
    };
  } catch (error) {
    ports.log.warn("the lock store does not answer", { lock: name, error });
    return { ...known, holder: null, fence: fence?.token ?? null, leaseMs: null, isStoreUp: false };
  }
}
