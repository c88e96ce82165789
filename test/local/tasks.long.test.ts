import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { openConnections } from "../../src/adapters/postgres/connect.ts";
import { createPostgresStore } from "../../src/adapters/postgres/store.ts";
import { attemptsOf } from "../../src/core/job/history.ts";
import type { JobId } from "../../src/core/job/job.ts";
import { type Store, taskOf } from "../../src/core/ports/ports.ts";
import { type LocalSystem, startLocal } from "../../src/local/system.ts";
import { freshFolder } from "./folder.ts";
import { until } from "./until.ts";

const slowMs = 120_000;
const core = new URL("../../src/core/index.ts", import.meta.url).href;

/** One job on Fargate, whose first try waits for a signal and whose later tries end at once. */
function appIn(folder: string): URL {
  const file = join(folder, "app.ts");
  writeFileSync(
    file,
    `import { once } from "node:events";
import { defineApp, defineJob } from ${JSON.stringify(core)};
const long = defineJob({ id: "long", runOn: "fargate", timeout: "2h", lease: "1m", retry: { maxAttempts: 3, base: "1ms" },
  async run(_, ctx) {
    await ctx.heartbeat(0.5);
    if (ctx.attempt === 1) await once(ctx.signal, "abort", { signal: AbortSignal.timeout(600_000) }).catch(() => {});
    ctx.signal.throwIfAborted();
    return { pid: process.pid };
  } });
export default [defineApp({ name: "yard", jobs: [long] })];
`,
  );
  return pathToFileURL(file);
}

async function begin(): Promise<{ system: LocalSystem; store: Store; enqueue(): Promise<JobId> }> {
  const folder = freshFolder();
  const environment = { PATH: process.env["PATH"], TZ: process.env["TZ"] };
  const settings = { environment, postgresSettings: { fsync: "off" }, without: ["watch"] as const };
  const system = await startLocal({ home: join(folder, "home"), apps: [appIn(folder)], ...settings });
  onTestFinished(() => system.stop());
  const connections = openConnections({ url: system.urls.database, applicationName: "test" });
  onTestFinished(() => connections.close());
  const headers = { "content-type": "application/json" };
  return {
    system,
    store: createPostgresStore(connections),
    async enqueue() {
      const body = JSON.stringify({ kind: "long" });
      const answer = await fetch(`${system.urls.api}/jobs`, { method: "POST", headers, body });
      return ((await answer.json()) as { id: JobId }).id;
    },
  };
}

/** The process of the task, once it has taken its try over. */
const processOf = (system: LocalSystem, store: Store, id: JobId): Promise<number> =>
  until(
    "the task",
    async () => {
      const worker = (await store.job(id))?.job.worker ?? "";
      const task = system.processes().find(({ name }) => name === "task");
      return taskOf(worker) !== null && task !== undefined ? task.pid : null;
    },
    slowMs,
  );

test(
  "a job on Fargate runs in a process of its own: killed it is run again, told to stop it lets go",
  async () => {
    const { system, store, enqueue } = await begin();
    const killed = await enqueue();
    process.kill(await processOf(system, store, killed), "SIGKILL");
    const ended = await until("the second try", async () => finished(await store.job(killed)), slowMs);
    const attempts = attemptsOf(ended.job, ended.history);
    expect(attempts).toMatchObject([{ errorCode: "TASK_EXITED" }, { outcome: "SUCCESS" }]);
    expect(ended.job).toMatchObject({ failures: 1, interruptions: 0 });
    expect(attempts.every(({ worker }) => taskOf(worker) !== null)).toBe(true);

    const stopped = await enqueue();
    process.kill(await processOf(system, store, stopped), "SIGTERM");
    const released = await until("the release", async () => finished(await store.job(stopped)), slowMs);
    expect(released.job).toMatchObject({ failures: 0, interruptions: 1 });
    await until("its end", () => system.processes().every(({ name }) => name !== "task"), slowMs);
  },
  4 * slowMs,
);

type Shown = NonNullable<Awaited<ReturnType<Store["job"]>>>;

const finished = (shown: Shown | null): Shown | null => (shown?.job.state === "SUCCESS" ? shown : null);
