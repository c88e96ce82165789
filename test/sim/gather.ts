import type { Evidence, JobFact } from "../invariants/evidence.ts";
import {
  byKeySizes,
  childrenOf,
  concurrencyKeyOf,
  concurrencyKeys,
  followedWithinMs,
  transactionalKinds,
} from "./app.ts";
import { flowRules } from "./flow-control.ts";
import { waitMs } from "./signals.ts";
import type { World } from "./world.ts";

/** Whether everything that was asked for before `before` has come to an end. */
export async function isAtRest(world: World, before: number): Promise<boolean> {
  return world.queue.deadCount === 0 && (await world.server.isAtRest(before));
}

/** The tables as plain data, beside what everybody remembers. */
export async function gather(world: World, endedBefore: number): Promise<Evidence> {
  for (const lane of ["default", "mail"]) {
    for (const { messageId } of world.queue.dead(lane)) world.queue.dropDead(lane, messageId, world.record, false);
  }
  const { decidedUntil, ...facts } = await world.server.facts();
  return {
    ...world.record,
    ...facts,
    flow: { ...flowRules, ...world.record, keyOf: concurrencyKeyOf },
    chains: [{ id: "follows", after: "lined", withinMs: followedWithinMs }],
    signals: { ...world.record, waitMs },
    expectedTimes: expectedTimes(world, decidedUntil),
    caps: [
      { key: "cap:capped", size: 2, kinds: ["capped"] },
      { key: "cap:by-key", size: byKeySizes.all, kinds: ["by-key"] },
      ...concurrencyKeys.map((key) => ({
        key: `cap:by-key#${key}`,
        size: byKeySizes.each,
        kinds: ["by-key"],
        of: ({ mark }: { mark: string | null }) => concurrencyKeyOf(mark) === key,
      })),
      { key: "lock:one", size: 1, kinds: ["locked"] },
      ...["lined", "newest"].map((id) => ({
        key: `overlap:${id}`,
        size: 1,
        kinds: ["sweep", "long"],
        of: (job: JobFact) => job.scheduleId === id,
      })),
    ],
    transactionalKinds,
    keepsAll: ["lined"],
    keepsLatest: ["newest"],
    childrenOf,
    readAt: world.now(),
    endedBefore,
  };
}

/** Multiples of the period that was in force, from one release to the next and on to what is decided. */
function expectedTimes({ record }: World, decidedUntil: ReadonlyMap<string, number>): Map<string, number[]> {
  const times = new Map<string, number[]>();
  for (const [id, eras] of record.eras) {
    const until = decidedUntil.get(id) ?? 0;
    const expected = eras.flatMap(({ from, everyMs, kept }, index) => {
      const to = Math.min(eras[index + 1]?.from ?? until, until);
      const first = Math.floor(from / everyMs) + 1;
      const count = Math.max(0, Math.floor(to / everyMs) - first + 1);
      return [...kept, ...Array.from({ length: count }, (_, n) => (first + n) * everyMs)];
    });
    times.set(id, expected);
  }
  return times;
}
