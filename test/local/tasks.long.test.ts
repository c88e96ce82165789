import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import type { TestStore } from "../support/looks.ts";
import { attemptsOf } from "../../src/machine/history.ts";
import type { JobId, JobView } from "../../src/machine/job.ts";
import { taskOf } from "../../src/machine/launcher.ts";
import { type LocalSystem, startLocal } from "../../src/local/system.ts";
import { freshFolder } from "./folder.ts";
import { environment, slowMs, storeOf } from "./greeting-system.ts";
import { until } from "./until.ts";

const core = new URL("../../src/compose/index.ts", import.meta.url).href;

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

async function begin(): Promise<{ system: LocalSystem; store: TestStore; enqueue(): Promise<JobId> }> {
  const folder = freshFolder();
  const settings = { environment, postgresSettings: { fsync: "off" }, without: ["watch"] as const };
  const system = await startLocal({ home: join(folder, "home"), apps: [appIn(folder)], ...settings });
  onTestFinished(() => system.stop());
  const headers = { "content-type": "application/json" };
  return {
    system,
    store: storeOf(system.urls.database),
    async enqueue() {
      const body = JSON.stringify({ kind: "long" });
      const answer = await fetch(`${system.urls.api}/jobs`, { method: "POST", headers, body });
      return ((await answer.json()) as { id: JobId }).id;
    },
  };
}

/** The process of the task, once it has taken its try over. */
const processOf = (system: LocalSystem, store: TestStore, id: JobId): Promise<number> =>
  until(
    "the task",
    async () => {
      const worker = (await store.job(id))?.worker ?? "";
      const task = system.processes().find(({ name }) => name === "task");
      return taskOf(worker) !== null && task !== undefined ? task.pid : null;
    },
    slowMs,
  );

test(
  "a job on Fargate runs in a process of its own: killed it is run again, asked to stop it lets go",
  async () => {
    const { system, store, enqueue } = await begin();
    const killed = await enqueue();
    process.kill(await processOf(system, store, killed), "SIGKILL");
    const ended = await until("the second try", async () => finished(await store.job(killed)), slowMs);
    const attempts = attemptsOf(ended, await store.history(killed));
    expect(attempts).toMatchObject([{ errorCode: "TASK_EXITED" }, { outcome: "SUCCESS" }]);
    expect(ended).toMatchObject({ failures: 1, interruptions: 0 });
    expect(attempts.every(({ worker }) => taskOf(worker) !== null)).toBe(true);

    const stopped = await enqueue();
    process.kill(await processOf(system, store, stopped), "SIGTERM");
    const released = await until("the release", async () => finished(await store.job(stopped)), slowMs);
    expect(released).toMatchObject({ failures: 0, interruptions: 1 });
    await until("its end", () => system.processes().every(({ name }) => name !== "task"), slowMs);
  },
  4 * slowMs,
);

const finished = (job: JobView | null): JobView | null => (job?.state === "SUCCESS" ? job : null);
