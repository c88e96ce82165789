import { createHash } from "node:crypto";
import { type Context, defineApp, defineJob, defineSchedule } from "belfry";
import { httpClient } from "belfry/http";
import { keepPart, partsOf } from "./parts.ts";
import { requests } from "./requests.ts";
import { routes } from "./routes.ts";
import { beginnings, payload, type TaskPayload } from "./task.ts";

const insertReport = "insert into taskflow.report (job_id, name, parts) values ($1, $2, $3)";
const parts = 4;

/** All below `timeout`: when the publisher hangs, its call ends first, with an error of its own. */
const limits = { connectMs: 1_000, headersMs: 2_000, totalMs: 4_000, answerBytesMax: 4_096 };
const publisher = httpClient({ baseUrl: { env: "TASKFLOW_PUBLISHER_URL" }, ...limits });

/**
 * The kind of job that the API takes (`routes.ts`): it fetches the parts of a report, publishes it and writes its row. `type` says
 * what is to go wrong (`task.ts`). All attempts have one idempotency key; the row commits with the success, so exactly once.
 */
export const task = defineJob({
  id: "taskflow-job",
  lane: "taskflow",
  environment: ["TASKFLOW_PUBLISHER_URL"],
  timeout: "60s",
  lease: "40s",
  retry: { maxAttempts: 4, base: "1s", cap: "30s", jitter: true },
  payload,
  async run({ type, report }: TaskPayload, ctx) {
    await beginnings[type](ctx);
    await prepare(report, ctx);
    const idempotencyKey = ctx.effectKey("publish");
    const path = `/${type}/${report}`;
    await publisher.send({ method: "POST", path, json: { report }, idempotencyKey, signal: ctx.signal });
    return ctx.tx(async (tx) => {
      await tx.query(insertReport, [ctx.jobId, report, parts]);
      return { report, parts };
    });
  },
});

/** The publisher takes a second for a part; one that is kept is not asked for again. `heartbeat` is progress, no lease. */
async function prepare(report: string, { signal, heartbeat }: Context): Promise<void> {
  const kept = await partsOf(report);
  await heartbeat(kept / parts);
  for (let part = kept + 1; part <= parts; part++) {
    const { body } = await publisher.send({ path: `/parts/${report}/${part}`, signal });
    await keepPart(report, part, createHash("sha256").update(body).digest("hex"));
    await heartbeat(part / parts);
  }
}

/** Ten requests a minute, so that there is something to see: two are flaky, one is rejected. */
const submitReports = defineJob({
  id: "submit-reports",
  async run(_, ctx) {
    for (const { job_key: key, type, payload: asked } of requests(10, `at-${ctx.scheduledFor.getTime() / 60_000}`))
      await ctx.enqueue(task, { type, ...asked }, { key });
  },
});

const everyMinute = defineSchedule({
  id: "submit-reports",
  every: { examples: "1m" },
  run: submitReports,
  misfire: "skip",
  enabled: { examples: true },
});

export default defineApp({
  name: "taskflow",
  jobs: [task],
  schedules: [everyMinute],
  // 16 processes with 10 jobs each: 160 reports at once, a little over four seconds each, so some 35 a second.
  lanes: { taskflow: { concurrency: { default: 2, examples: 16 } } },
  migrations: new URL("./migrations/", import.meta.url),
  routes: routes(task),
});
