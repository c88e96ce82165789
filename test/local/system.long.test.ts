import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { onConnection } from "../../src/postgres/access.ts";
import { startParts } from "../../src/local/services/parts.ts";
import { identityOf } from "../../src/local/process/operating-system.ts";
import { type LocalEvent, startLocal } from "../../src/local/system.ts";
import { freshFolder } from "./folder.ts";
import { begin, environment, finished, newApp, slowMs, startProcess, storeOf } from "./greeting-system.ts";
import { until } from "./until.ts";

const onDied = (error: unknown): void => console.error(error);

const isAllSent = (url: string): Promise<boolean> =>
  onConnection({ url }, async (client) => (await client.query("select from belfry.outbox limit 1")).rowCount === 0);

describe("the local system", () => {
  it(
    "carries a scheduled job from the wake to the settled row, shows an edit, and stops without a trace",
    async () => {
      const { home, app, edit } = newApp("hello");
      const reports: LocalEvent[] = [];
      const system = await begin(home, app, {}, (event) => void reports.push(event));
      const store = storeOf(system.urls.database);
      const job = await until("a finished job", () => finished(store), slowMs);
      expect(job).toMatchObject({ kind: "greet", scheduleId: "greet-often", attempt: 1, result: { said: "hello" } });
      expect(await store.history(job.id)).toEqual([]);
      const occurrences = await store.occurrences("greet-often");
      expect(occurrences.find(({ jobId }) => jobId === job.id)).toMatchObject({ outcome: "FIRED" });
      await expect(begin(home, app)).rejects.toThrow(`process ${process.pid}, ${system.urls.api}`);
      expect((await fetch(`${system.urls.api}/jobs/${job.id}`)).status).toBe(200);

      edit("edited");
      // A reload that failed would be waited for in vain, and its reason would be lost.
      const isReload = ({ is }: LocalEvent): boolean => is === "reloaded" || is === "problem";
      await until("the reload", () => reports.some(isReload), 2.5 * slowMs);
      expect(reports.filter(isReload)).toEqual([{ is: "reloaded", file: "app.ts" }]);
      await until(
        "the edit",
        async () => JSON.stringify((await finished(store))?.result) === '{"said":"edited"}',
        2.5 * slowMs,
      );

      const pids = [...system.processes().map(({ pid }) => pid), system.postgres?.pid ?? 0];
      await system.stop();
      expect(pids.filter((pid) => identityOf(pid) !== null)).toEqual([]);
    },
    4 * slowMs,
  );

  it(
    "loses nothing when everything is killed",
    async () => {
      const { home, app } = newApp("hello");
      const first = await startProcess(home, app);
      const before = storeOf(first.database);
      await until("a finished job", () => finished(before), slowMs);
      // What stands in the outbox is sent from there, and is not counted as lost.
      await until("each message to be sent", () => isAllSent(first.database), slowMs);
      first.process.kill("SIGKILL");
      await once(first.process, "exit");

      const second = await startProcess(home, app);
      const store = storeOf(second.database);
      const nowMs = await store.now();
      expect(second.lines.find((line) => line["is"] === "started")?.["requeued"]).toBeGreaterThan(100);
      const left = await until(
        "every job due by now",
        async () => {
          const jobs = await store.jobs();
          const due = jobs.filter(({ dueAt }) => dueAt <= nowMs);
          return due.length > 0 && due.every(({ state }) => state === "SUCCESS") ? jobs : null;
        },
        2.5 * slowMs,
      );
      expect(left.filter(({ attempt, interruptions }) => attempt > 1 + interruptions)).toEqual([]);
      second.process.kill("SIGINT");
      expect(await once(second.process, "exit")).toEqual([130, null]);
    },
    4 * slowMs,
  );

  it(
    "uses the parts that the environment names",
    async () => {
      const { home, app } = newApp("hello");
      const parts = await startParts({
        home: freshFolder(),
        environment: {},
        postgresSettings: { fsync: "off" },
        onDied,
        onKeyLost: onDied,
      });
      onTestFinished(() => parts.stop());
      const { DATABASE_URL = "", AWS_ENDPOINT_URL_SQS = "", AWS_ENDPOINT_URL_DYNAMODB = "" } = parts.env;
      const system = await begin(home, app, { DATABASE_URL, AWS_ENDPOINT_URL_SQS, AWS_ENDPOINT_URL_DYNAMODB });
      expect(system.postgres).toBeNull();
      expect([system.urls.database, system.urls.sqs, system.urls.dynamodb]).toEqual([
        DATABASE_URL,
        AWS_ENDPOINT_URL_SQS,
        AWS_ENDPOINT_URL_DYNAMODB,
      ]);
      const store = storeOf(DATABASE_URL);
      await until("a finished job", () => finished(store), slowMs);
      await system.stop();
    },
    4 * slowMs,
  );

  it(
    "lets one scheduler task make passes while the other says who holds the lock, and exits well",
    async () => {
      const { home, app } = newApp("hello");
      const system = await startLocal({
        home,
        apps: [app],
        environment,
        postgresSettings: { fsync: "off" },
        without: ["wakes", "workers", "api"],
      });
      onTestFinished(() => system.stop());
      const env = { ...system.env, BELFRY_PASS_MS: "8000", BELFRY_LOCK_LEASE_MS: "4000" };
      const [a, b] = await Promise.all([runPass(env), runPass(env)]);
      expect([a.code, b.code]).toEqual([0, 0]);
      const [done, held] = a.report["outcome"] === "done" ? [a, b] : [b, a];
      expect(done.report).toMatchObject({ outcome: "done", heldBy: null });
      expect(held.report).toMatchObject({
        outcome: "held",
        passes: 0,
        heldBy: expect.stringMatching(/:\d+/) as string,
      });
      expect(held.errors).toContain(`held by ${String(held.report["heldBy"])}`);
    },
    4 * slowMs,
  );
});

/** One scheduler task to its end. */
async function runPass(env: Readonly<Record<string, string>>) {
  const task = fileURLToPath(new URL("../../scheduler-task/main.ts", import.meta.url));
  const child = spawn(process.execPath, [task, "pass"], { env, stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [output, errors] = [child.stdout, child.stderr].map((stream) => stream.toArray());
  const [code] = (await once(child, "close")) as [number | null];
  const last =
    Buffer.concat((await output) as Buffer[])
      .toString()
      .trim()
      .split("\n")
      .at(-1) ?? "{}";
  return {
    code,
    report: JSON.parse(last) as Record<string, unknown>,
    errors: Buffer.concat((await errors) as Buffer[]).toString(),
  };
}
