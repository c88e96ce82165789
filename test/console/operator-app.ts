import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const core = new URL("../../src/compose/index.ts", import.meta.url).href;
const zod = import.meta.resolve("zod");

/** What the operator of these tests looks after: mails that fail, a run that hangs, and schedules of every kind. */
export function writeOperatorApp(folder: string): URL {
  const file = join(folder, "app.ts");
  writeFileSync(
    file,
    `import { once } from "node:events";
import { defineApp, defineGraph, defineJob, defineSchedule } from ${JSON.stringify(core)};
import { z } from ${JSON.stringify(zod)};
const ping = defineJob({ id: "ping", run() {} });
const mail = defineJob({ id: "send-mail", lane: "mail", payload: z.object({ customer: z.string(), fails: z.boolean().default(false) }),
  retry: { maxAttempts: 1 },
  run({ customer, fails }, ctx) {
    ctx.log.info("asks the provider", { customer });
    if (fails) throw Object.assign(new Error("the provider answered 503"), { code: "HTTP_503" });
  } });
const wait = async (ctx) => {
  await once(ctx.signal, "abort", { signal: AbortSignal.timeout(600_000) }).catch(() => {});
  ctx.signal.throwIfAborted();
};
const slow = defineJob({ id: "slow-export", lane: "slow", payload: z.object({ n: z.int() }), timeout: "14m", run: (_, ctx) => wait(ctx) });
const settle = defineGraph({ id: "settle-day", version: 1, lane: "slow", input: z.object({ day: z.string() }), key: ({ day }) => day,
  tasks(task) {
    const first = task("first", { timeout: "14m", run: (_, ctx) => wait(ctx) });
    task("second", { after: { first }, run() {} });
  } });
const pay = defineGraph({ id: "pay", version: 1,
  tasks(task) {
    const approved = task.waitFor("approved", { timeout: "7d", payload: z.object({ by: z.string(), cents: z.int() }) });
    task("book", { after: { approved }, run: ({ approved: { by, cents } }) => ({ by, cents }) });
  } });
const daily = { cron: "0 3 1 1 *", timezone: "UTC", run: ping };
export default [defineApp({ name: "shop", jobs: [ping, mail, slow, settle, pay], lanes: { mail: {}, slow: { concurrency: { default: 2 } } }, schedules: [
  defineSchedule({ id: "sweep-often", every: "10m", run: ping }),
  ...["nightly-import", "nightly-sync"].map((id) => defineSchedule({ id, ...daily })),
] })];
`,
  );
  return pathToFileURL(file);
}
