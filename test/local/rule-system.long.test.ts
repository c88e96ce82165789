import { expect, onTestFinished, test } from "vitest";
import { openConnections } from "../../src/adapters/postgres/connect.ts";
import { createPostgresStore } from "../../src/adapters/postgres/store.ts";
import { startLocal } from "../../src/local/system.ts";
import { freshFolder } from "./folder.ts";
import { until } from "./until.ts";

test("a rule of its own, for real: its process takes the lock, runs the job and settles it; no time is lost or doubled", async () => {
  const lines: string[] = [];
  const system = await startLocal({
    home: freshFolder(),
    apps: [new URL("./ruled-app.ts", import.meta.url)],
    environment: { PATH: process.env["PATH"] },
    postgresSettings: { fsync: "off" },
    timeScale: 10,
    without: ["watch", "fakes", "api"],
    onEvent: (event) => {
      if (event.is === "line") lines.push(event.line);
    },
  });
  onTestFinished(() => system.stop());
  const connections = openConnections({ url: system.urls.database, applicationName: "test" });
  onTestFinished(() => connections.close());
  const store = createPostgresStore(connections);
  const done = await until(
    "two jobs that their own tasks ran",
    async () => {
      const jobs = await store.jobs({ states: ["SUCCESS"], kind: "sweep", limit: 20 });
      const shown = await Promise.all(jobs.map((job) => store.job(job.id)));
      // On a machine that stood still a try may be lost, and another worker does the next one.
      const own = shown.filter(
        (each) => each?.job.attempt === 1 && each.job.worker?.startsWith("schedule:sweep-each-minute@"),
      );
      return own.length >= 2 ? own : null;
    },
    90_000,
  );
  expect(done.map((each) => each?.history)).toEqual(done.map(() => []));
  // A task reports after its job has succeeded.
  await until("the report of such a task", () =>
    lines.some((line) => line.includes('"report":"run-schedule"') && line.includes('"outcome":"done"')),
  );
  const rows = (await store.occurrences("sweep-each-minute", 500)).toReversed();
  const times = rows.map((row) => row.nominalAt);
  expect(times.slice(1).map((time, k) => time - (times[k] ?? 0))).toEqual(times.slice(1).map(() => 60_000));
  const fired = rows.filter(({ outcome }) => outcome === "FIRED");
  expect(fired.length).toBeGreaterThanOrEqual(done.length);
  expect(new Set(fired.map((row) => row.jobId)).size).toBe(fired.length);
}, 150_000);
