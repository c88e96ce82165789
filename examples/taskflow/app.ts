import { defineApp, defineJob, type SettledJob, type Tx } from "belfry";
import { routes } from "./routes.ts";
import { beginnings, payload, type TaskPayload } from "./task.ts";
import { publisher } from "./publisher.ts";

const insertReport = `
  insert into taskflow.report (job_id, name, parts) values ($1, $2, $3)`;

const insertAttempt = `
  insert into taskflow.job_attempt (job_id, attempt, outcome, error_code, error_message) values ($1, $2, $3, $4, $5)
  on conflict do nothing`;

const parts = 4;

/**
 * The system's one kind of job: it prepares a report in parts, publishes it outside and stores that it is there. What goes
 * wrong depends on the type. The publisher sees one idempotency key in all tries; the row is written exactly once.
 */
export const task = defineJob({
  id: "taskflow-job",
  lane: "taskflow",
  timeout: "60s",
  lease: "40s",
  retry: { maxAttempts: 4, base: "1s", cap: "30s", jitter: true },
  payload,
  async run({ type, report }: TaskPayload, ctx) {
    await beginnings[type](ctx);
    for (let part = 1; part <= parts; part++) {
      ctx.signal.throwIfAborted();
      await ctx.heartbeat(part / parts);
    }
    const idempotencyKey = ctx.effectKey("publish");
    await publisher().send({
      method: "POST",
      path: `/${type}/${report}`,
      json: { report },
      idempotencyKey,
      signal: ctx.signal,
    });
    return ctx.tx(async (tx) => {
      await tx.query(insertReport, [ctx.jobId, report, parts]);
      return { report, parts };
    });
  },
  onSettled: recordAttempt,
});

/** Every try that ended, in the transaction that says so: also those whose worker died, and those that were canceled. */
async function recordAttempt(_: TaskPayload, { jobId, attempt, outcome, error }: SettledJob, tx: Tx): Promise<void> {
  await tx.query(insertAttempt, [jobId, attempt, outcome, error?.code ?? null, error?.message ?? null]);
}

export default defineApp({
  name: "taskflow",
  jobs: [task],
  lanes: { taskflow: {} },
  migrations: new URL("./migrations/", import.meta.url),
  routes: routes(task),
});
