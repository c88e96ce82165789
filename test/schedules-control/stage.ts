import { defineApp } from "../../src/define/define-app.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { type ScheduleDefinition, registry } from "../../src/define/definition.ts";
import { explain } from "../../src/insight/explain.ts";
import type { JobId } from "../../src/machine/job.ts";
import type { Claimed, Settlement } from "../../src/machine/store.ts";
import type { StoreTx } from "../../src/machine/transaction.ts";
import { backfill, type BackfillOptions } from "../../src/insight/backfill.ts";
import { settlementOf } from "../contract/store/fixture.ts";
import { hour, midnight, minute } from "../schedules/spec.ts";
import { insightOf } from "../support/insight-stub.ts";
import { referenceGround, world } from "../schedules/world.ts";

export { hour, midnight, minute };
export const work = defineJob({ id: "work", run: () => {} });
export const capped = defineJob({ id: "capped", concurrency: 1, run: () => {} });
export const locked = defineJob({ id: "locked", lock: { name: "shared" }, run: () => {} });
export const control = { stage: "test" };

export const appOf = (...schedules: ScheduleDefinition[]) =>
  defineApp({ name: "test", jobs: [work, capped, locked], schedules });

/** A stage in memory with one app, and the verbs of people. It starts at `start`, at midnight of a Saturday in UTC. */
export async function stage(schedules: readonly ScheduleDefinition[], start: number = midnight) {
  const app = appOf(...schedules);
  const at = world([app], referenceGround(start));
  const definitions = registry([app]);
  await at.install();
  const sources = { store: at.store, insight: insightOf(at.store) };
  return {
    ...at,
    definitions,
    explain: (id: string, time: string) => explain(sources, id, time),
    /** The one answer for a time. */
    async why(id: string, time: string) {
      const [answer, second] = await explain(sources, id, time);
      if (answer === undefined || second !== undefined) throw new Error(`${time} has not exactly one answer`);
      return answer;
    },
    backfill: (id: string, options: Partial<BackfillOptions> & Pick<BackfillOptions, "from" | "to">) =>
      backfill(at.ports, definitions, id, {
        ...control,
        dryRun: false,
        force: false,
        paceMs: null,
        ...options,
      }),
    /** Claims what is due for this time and leaves it running. */
    async begin(id: string, nominalAt: number): Promise<Claimed> {
      const jobId = await jobOf(at.store, id, nominalAt);
      const [row] = await at.store.peek([jobId]);
      const message = { jobId, generation: row?.generation ?? 0, trace: "t" };
      const [claimed] = (await at.store.claim([message], { worker: "w", alone: true })).claimed;
      if (claimed === undefined) throw new Error(`the job of ${id} was not claimed`);
      return claimed;
    },
    end: (job: Claimed, over: Partial<Settlement> = {}, tx?: StoreTx) =>
      at.store.settle([settlementOf(job, over)], {
        worker: "w",
        ...(tx === undefined ? {} : { tx }),
      }),
    /** Moves the clock to an instant, a minute at a time, with ticks; works what is due when `isWorking`. */
    async liveUntil(until: number, isWorking = true): Promise<void> {
      while (at.now() < until) {
        await at.advance(Math.min(minute, until - at.now()));
        await at.tick();
        if (isWorking) await at.work();
      }
    },
  };
}

export type Stage = Awaited<ReturnType<typeof stage>>;

async function jobOf(store: Stage["store"], id: string, nominalAt: number): Promise<JobId> {
  const [row] = await store.occurrencesAt(id, { localTimes: [], instants: [nominalAt] });
  if (row?.jobId == null) throw new Error(`no job of ${id} at ${new Date(nominalAt).toISOString()}`);
  return row.jobId;
}
