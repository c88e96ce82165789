import { expect, test } from "vitest";
import type { JobId } from "../../src/machine/job.ts";
import type { State } from "../../src/machine/state.ts";
import { plantJobs } from "../support/plant-jobs.ts";
import { openApi } from "./harness.ts";
import { aPause } from "../support/pause.ts";
import { eachTest } from "../support/each-test.ts";

const opened = eachTest(() => openApi());
const { call, pool } = opened;

async function why(id: JobId): Promise<Record<string, unknown>> {
  const { status, body } = await call("GET", `/jobs/${id}/explain`);
  expect(status).toBe(200);
  return body as unknown as Record<string, unknown>;
}

const plant = async (state: State, columns: Readonly<Record<string, string | number>> = {}) =>
  (await plantJobs(pool, state, 1, columns))[0] ?? ("" as JobId);

const inAMinute = { due_at: "belfry.now() + interval '1 min'" };

const planted: readonly [string, () => Promise<JobId>, object][] = [
  [
    "a retry to come",
    () => plant("RETRY_WAIT", { ...inAMinute, error_code: "'HTTP_503'" }),
    { cause: "retrying", until: "2026-11-21T08:01:00.000Z" },
  ],
  [
    "a predecessor",
    async () => {
      const first = await plant("PENDING");
      const second = await plant("PENDING", { blocked: "true", preds_open: 1 });
      await opened.pool.query("insert into belfry.edge (from_id, to_id, run_id) values ($1, $2, 1)", [first, second]);
      return second;
    },
    { cause: "predecessors", sentence: "it waits for 1 of its predecessors" },
  ],
  [
    "a slot",
    async () => {
      await opened.store.installSlots([{ key: "cap:ping", size: 1, onRefusal: "hold", reason: "slot" }]);
      const holder = await plant("PENDING");
      await opened.pool.query("update belfry.slot set job_id = $1, attempt = 1 where key = 'cap:ping'", [holder]);
      return await plant("PENDING", { hold: "'slot'", held_on: "'cap:ping'" });
    },
    { cause: "slot", sentence: "it waits for a slot of cap:ping: 1 of 1 are taken, 0 wait longer" },
  ],
  [
    "a paused schedule",
    async () => {
      await opened.store.pauseSchedule("ping-often", aPause);
      return await plant("QUEUED", { ...inAMinute, schedule_id: "'ping-often'" });
    },
    { cause: "paused" },
  ],
  [
    "a paused lane",
    async () => {
      await opened.store.pauseLane("default", aPause);
      return await plant("PENDING", { hold: "'paused'", held_on: "'lane:default'" });
    },
    { cause: "lane-paused", advice: "resume it: belfry lanes resume default" },
  ],
  [
    "no worker",
    async () => {
      const id = await plant("QUEUED");
      await opened.advance(60_000);
      return id;
    },
    { cause: "no-worker" },
  ],
  [
    "a lock behind a cap",
    async () => {
      await opened.store.installSlots([{ key: "lock:shared", size: 1, onRefusal: "skip", reason: "lock-held" }]);
      const id = await plant("SKIPPED", { slot_keys: "array['cap:ping', 'lock:shared']" });
      await opened.pool.query(
        "insert into belfry.history (job_id, at, from_state, to_state, attempt, generation, reason) values ($1, belfry.now(), 'QUEUED', 'SKIPPED', 0, 1, 'lock-held')",
        [id],
      );
      return id;
    },
    { cause: "lock", sentence: "it was SKIPPED: another job held its lock lock:shared" },
  ],
  [
    "others before it",
    async () => {
      const sent = (ms: number) => ({ dispatched_at: `belfry.now() - ${ms} * interval '1 ms'` });
      for (const ms of [30, 20]) await plant("QUEUED", sent(ms));
      return await plant("QUEUED", sent(10));
    },
    { cause: "queued", sentence: "it is queued in lane default behind 2; 0 run there now" },
  ],
];

test.each(planted)("a job that waits because of %s is explained so", async (_, plantIt, expected) => {
  expect(await why(await plantIt())).toMatchObject(expected);
});

test("a job that runs and one that ended are no riddle, and one that never was is a 404", async () => {
  const running = await plant("RUNNING");
  expect(await why(running)).toMatchObject({ cause: "running" });
  const failed = await plant("FAILED");
  expect(await why(failed)).toMatchObject({
    cause: "ended",
    sentence: "it ended as FAILED at 2026-11-21T08:00:00.000Z (BROKEN)",
  });
  expect(await opened.call("GET", "/jobs/999999/explain")).toMatchObject({ status: 404 });
});

test("a SKIPPED task names the task before it that failed first, through others that were skipped", async () => {
  const task = (name: string, state: State): Promise<JobId> =>
    plant(state, { run_id: 7, attempt: 1, failures: 1, error_code: "'HTTP_404'", task: `'${name}'` });
  const match = await task("match", "FAILED");
  const review = await task("review", "SKIPPED");
  const publish = await task("publish", "SKIPPED");
  const edge = "insert into belfry.edge (from_id, to_id, run_id) values ($1, $2, 7)";
  await opened.pool.query(edge, [match, review]);
  await opened.pool.query(edge, [review, publish]);
  await opened.pool.query(
    `insert into belfry.history (job_id, at, from_state, to_state, attempt, generation, reason)
     values ($1, belfry.now(), 'PENDING', 'SKIPPED', 0, 0, 'upstream')`,
    [publish],
  );
  const answer = await why(publish);
  expect(answer["sentence"]).toContain(`task "match" before it failed first with HTTP_404, as job ${match}`);
  expect(answer["waitsFor"]).toEqual([match]);
});

test("a job that waits comes with its explanation when that is asked for, an ended one without", async () => {
  const waiting = await plant("PENDING", inAMinute);
  const { body } = await opened.call("GET", `/jobs/${waiting}?include=explanation`);
  expect(body).toMatchObject({ id: waiting, explanation: await why(waiting) });
  expect((await opened.call("GET", `/jobs/${waiting}`)).body).not.toHaveProperty("explanation");
  const ended = await plant("SUCCESS", { attempt: 1 });
  expect((await opened.call("GET", `/jobs/${ended}?include=explanation`)).body).not.toHaveProperty("explanation");
});

test("the job that started a FAILED run names the task of it that failed first", async () => {
  const starter = await plant("SUCCESS");
  await opened.pool.query(
    `insert into belfry.run (id, kind, key, version, state, sealed, starter_id, created_at, finished_at)
     overriding system value values (7, 'night', 'night:1', 1, 'FAILED', true, $1, belfry.now(), belfry.now())`,
    [starter],
  );
  const failed = (task: string, seconds: number): Promise<JobId> =>
    plant("FAILED", {
      finished_at: `belfry.now() + interval '${seconds} seconds'`,
      run_id: 7,
      error_code: "'HTTP_404'",
      task: `'${task}'`,
    });
  await failed("later", 2);
  const match = await failed("match", 1);
  expect(await why(starter)).toMatchObject({
    sentence: expect.stringContaining(
      `run 7 that it started is FAILED: task "match" failed first with HTTP_404, as job ${match}`,
    ),
    advice: "repeat that task and what waited for it: belfry runs retry 7",
    waitsFor: [match],
  });
});
