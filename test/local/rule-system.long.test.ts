import { expect, onTestFinished, test } from "vitest";
import { createDynamoLockStore, dynamodbClient } from "../../src/aws/lock-store.ts";
import type { LockStore } from "../../src/machine/ports.ts";
import { scheduleLock } from "../../src/schedule/run-schedule.ts";
import { beginCompressed } from "./greeting-system.ts";
import { until } from "./until.ts";

test("a rule of its own, for real: its process takes the lock, runs the job and settles it; no time is lost or doubled", async () => {
  const lines: string[] = [];
  const { store } = await beginCompressed(new URL("ruled-app.ts", import.meta.url), 10, (event) => {
    if (event.is === "line") lines.push(event.line);
  });
  const done = await until(
    "two jobs that their own tasks ran",
    async () => {
      const jobs = await store.jobs({ states: ["SUCCESS"], kind: "sweep" });
      // On a machine that stood still a try may be lost, and another worker does the next one.
      const own = jobs.filter((job) => job.attempt === 1 && job.worker?.startsWith("schedule:sweep-each-minute@"));
      return own.length >= 2 ? own : null;
    },
    90_000,
  );
  for (const { id } of done) expect(await store.history(id)).toEqual([]);
  // A task reports after its job has succeeded.
  await until("the report of such a task", () =>
    lines.some((line) => line.includes('"report":"run-schedule"') && line.includes('"outcome":"done"')),
  );
  const rows = (await store.occurrences("sweep-each-minute")).toReversed();
  const times = rows.map((row) => row.nominalAt);
  expect(times.slice(1).map((time, k) => time - (times[k] ?? 0))).toEqual(times.slice(1).map(() => 60_000));
  const fired = rows.filter(({ outcome }) => outcome === "FIRED");
  expect(fired.length).toBeGreaterThanOrEqual(done.length);
  expect(new Set(fired.map((row) => row.jobId)).size).toBe(fired.length);
}, 150_000);

test("kill -9 of a rule's process in its run: the second attempt begins at once, the next time is not skipped", async () => {
  const { system, store } = await beginCompressed(new URL("ruled-lock-app.ts", import.meta.url), 5);
  const begun = await until(
    "the first run",
    async () => (await store.jobs({ states: ["RUNNING"], kind: "locked" }))[0],
    120_000,
  );
  const rule = system.processes().find(({ name }) => name === "schedule locked-often");
  expect(begun.worker).toContain(`:${rule?.pid}`);
  const locks = locksOf(system.urls.dynamodb);
  const held = await locks.read(scheduleLock("locked-often"));
  process.kill(rule?.pid ?? fail(), "SIGKILL");
  // Before another process takes it, which would raise the fence.
  const free = await until("the schedule's lock", async () => {
    const item = await locks.read(scheduleLock("locked-often"));
    return item?.owner === held?.owner ? null : item;
  });
  expect(free).toMatchObject({ owner: null, fence: held?.fence });
  // By its lease it would take hours.
  await until("the second attempt", async () => (await store.job(begun.id))?.state === "SUCCESS", 120_000);
  const next = await until(
    "the next time",
    async () => {
      const rows = await store.occurrences("locked-often");
      return rows.find((row) => row.nominalAt > (begun.scheduledFor ?? 0) && row.outcome !== "PLANNED");
    },
    120_000,
  );
  expect(next.outcome).toBe("FIRED");
}, 400_000);

const fail = (): never => {
  throw new Error("no process runs for the schedule");
};

function locksOf(endpoint: string): LockStore {
  const client = dynamodbClient({ region: "us-east-1", sqsEndpoint: null, dynamodbEndpoint: endpoint });
  onTestFinished(() => client.destroy());
  return createDynamoLockStore({ client, tableName: "belfry-dev-lock" });
}
