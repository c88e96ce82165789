/** What the processes of the alarm world run: jobs that do what the fault of the moment says. */
import type { Context } from "../../src/define/context.ts";
import { defineApp } from "../../src/define/define-app.ts";
import { defineGraph } from "../../src/define/define-graph.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { defineSchedule } from "../../src/define/define-schedule.ts";
import { AmbiguousError, PermanentError } from "../../src/define/errors.ts";
import { defineSweep } from "../../src/define/define-sweep.ts";
import { sql } from "../../src/define/query.ts";

/** The classes of the copy of the code that runs: an error of another copy would be any error. */
const errors = { AmbiguousError, PermanentError };
export type Act = (ctx: Context, thrown: typeof errors) => Promise<void>;

/** Set by each fault before it works. Each function of the world loads this file again, as each deployed one has its own copy. */
const shared = globalThis as { belfryFault?: { act: Act } };
export const fault: { act: Act } = (shared.belfryFault ??= { act: async () => {} });
const run = (_: void, ctx: Context): Promise<void> => fault.act(ctx, errors);
const once = { retry: { maxAttempts: 1 } } as const;

const batch = defineJob({ id: "batch", timeout: "10m", onAmbiguous: "park", ...once, run });
/** Its lane has no schedule, and no schedule names it. */
const notify = defineJob({ id: "notify", lane: "mail", ...once, run });
const ruled = defineJob({ id: "ruled", ...once, run });
const long = defineJob({ id: "long", runOn: "fargate", concurrency: 1, run });
const locked = defineJob({ id: "locked", lock: { name: "alone" }, run });
const charge = defineJob({
  id: "charge",
  lane: "mail",
  circuit: { on: ["DOWN"], minimum: 5 },
  retry: { maxAttempts: 4, base: "1h" },
  run,
});
const settlement = defineGraph({
  id: "settlement",
  version: 1,
  tasks(task) {
    task("count", { ...once, run: (_, ctx) => fault.act(ctx, errors) });
  },
});
const sweep = defineSweep({
  id: "sweep",
  due: () => sql`select 1 as id where false`,
  key: () => "k",
  each: notify,
  payload: () => undefined,
  maxLateness: "60s",
});

/** None of its times comes by itself while a fault is played. */
const yearly = defineSchedule({
  id: "yearly",
  cron: "0 0 29 2 *",
  timezone: "UTC",
  run: batch,
  misfire: "skip",
  objective: { onTime: "1h", share: 0.99 },
});

export const app = defineApp({
  name: "alarms",
  lanes: { mail: {} },
  jobs: [batch, notify, locked, settlement, sweep, long, charge],
  schedules: [defineSchedule({ id: "ruled", every: "1m", launch: "rule", run: ruled }), yearly],
});

export default [app];
