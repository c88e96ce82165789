import { expect, test } from "vitest";
import type { JobId } from "../../src/machine/job.ts";
import { openApi } from "./harness.ts";
import { aPause } from "../support/pause.ts";

type Opened = Awaited<ReturnType<typeof openApi>>;

async function why({ call }: Opened, id: JobId): Promise<Record<string, unknown>> {
  const { status, body } = await call("GET", `/jobs/${id}/explain`);
  expect(status).toBe(200);
  return body as unknown as Record<string, unknown>;
}

/** A job in any state; what is not said is as of a waiting one. */
async function plant({ pool }: Opened, asked: string, given: string): Promise<JobId> {
  const isOut = /'QUEUED'/.test(given) && !asked.includes("dispatched_at");
  const [columns, values] = isOut ? [`${asked}, dispatched_at`, `${given}, belfry.now()`] : [asked, given];
  const { rows } = await pool.query<{ id: JobId }>(
    `insert into belfry.job (kind, payload, lane, event_id, generation, max_attempts, lease_ms, retention_ms, trace, created_at, ${columns})
     values ('ping', 'null', 'default', 0, 1, 4, 20000, 2592000000, 't', belfry.now(), ${values}) returning id`,
  );
  return rows[0]?.id ?? ("" as JobId);
}

const planted: readonly [string, (opened: Opened) => Promise<JobId>, object][] = [
  [
    "a retry to come",
    (o) =>
      plant(
        o,
        "state, due_at, attempt, failures, error_code",
        "'RETRY_WAIT', belfry.now() + interval '1 min', 1, 1, 'HTTP_503'",
      ),
    {
      cause: "retrying",
      until: "2026-11-21T08:01:00.000Z",
    },
  ],
  [
    "a predecessor",
    async (o) => {
      const first = await plant(o, "state, due_at", "'PENDING', belfry.now()");
      const second = await plant(o, "state, due_at, blocked, preds_open", "'PENDING', belfry.now(), true, 1");
      await o.pool.query("insert into belfry.edge (from_id, to_id, run_id) values ($1, $2, 1)", [first, second]);
      return second;
    },
    { cause: "predecessors", sentence: "it waits for 1 of its predecessors" },
  ],
  [
    "a slot",
    async (o) => {
      await o.store.installSlots([{ key: "cap:ping", size: 1, onRefusal: "hold", reason: "slot" }]);
      const holder = await plant(o, "state, due_at", "'PENDING', belfry.now()");
      await o.pool.query("update belfry.slot set job_id = $1, attempt = 1 where key = 'cap:ping'", [holder]);
      return await plant(o, "state, due_at, hold, held_on", "'PENDING', belfry.now(), 'slot', 'cap:ping'");
    },
    { cause: "slot", sentence: "it waits for a slot of cap:ping: 1 of 1 are taken, 0 wait longer" },
  ],
  [
    "a paused schedule",
    async (o) => {
      await o.store.pauseSchedule("ping-often", aPause);
      return await plant(o, "state, due_at, schedule_id", "'QUEUED', belfry.now() + interval '1 min', 'ping-often'");
    },
    { cause: "paused" },
  ],
  [
    "a paused lane",
    async (o) => {
      await o.store.pauseLane("default", aPause);
      return await plant(o, "state, due_at, hold, held_on", "'PENDING', belfry.now(), 'paused', 'lane:default'");
    },
    { cause: "lane-paused", advice: "resume the lane: belfry lanes resume default" },
  ],
  [
    "no worker",
    async (o) => {
      const id = await plant(o, "state, due_at, dispatched_at", "'QUEUED', belfry.now(), belfry.now()");
      await o.advance(60_000);
      return id;
    },
    { cause: "no-worker" },
  ],
  [
    "a lock behind a cap",
    async (o) => {
      await o.store.installSlots([{ key: "lock:shared", size: 1, onRefusal: "skip", reason: "lock-held" }]);
      const id = await plant(
        o,
        "state, due_at, finished_at, slot_keys",
        "'SKIPPED', belfry.now(), belfry.now(), array['cap:ping', 'lock:shared']",
      );
      await o.pool.query(
        "insert into belfry.history (job_id, at, from_state, to_state, attempt, generation, reason) values ($1, belfry.now(), 'QUEUED', 'SKIPPED', 0, 1, 'lock-held')",
        [id],
      );
      return id;
    },
    { cause: "lock", sentence: "it was SKIPPED: another job held its lock lock:shared" },
  ],
  [
    "others before it",
    async (o) => {
      const handed = (ms: number) => `'QUEUED', belfry.now(), belfry.now() - ${ms} * interval '1 ms'`;
      for (const ms of [30, 20]) await plant(o, "state, due_at, dispatched_at", handed(ms));
      return await plant(o, "state, due_at, dispatched_at", handed(10));
    },
    { cause: "queued", sentence: "it is queued in lane default behind 2; 0 run there now" },
  ],
];

test.each(planted)("a job that waits because of %s is explained so", async (_, plantIt, expected) => {
  const opened = await openApi();
  expect(await why(opened, await plantIt(opened))).toMatchObject(expected);
});

test("a job that runs and one that ended are no riddle, and one that never was is a 404", async () => {
  const opened = await openApi();
  const running = await plant(
    opened,
    "state, due_at, attempt, worker, started_at, lease_id, dispatched_at",
    "'RUNNING', belfry.now(), 1, 'w', belfry.now(), 0, belfry.now()",
  );
  expect(await why(opened, running)).toMatchObject({ cause: "running" });
  const failed = await plant(
    opened,
    "state, due_at, finished_at, error_code",
    "'FAILED', belfry.now(), belfry.now(), 'BROKEN'",
  );
  expect(await why(opened, failed)).toMatchObject({
    cause: "ended",
    sentence: "it ended as FAILED at 2026-11-21T08:00:00.000Z (BROKEN)",
  });
  expect(await opened.call("GET", "/jobs/999999/explain")).toMatchObject({ status: 404 });
});

test("a SKIPPED task names the task before it that failed first, through others that were skipped", async () => {
  const opened = await openApi();
  const task = (name: string, given: string): Promise<JobId> =>
    plant(
      opened,
      "state, due_at, finished_at, run_id, attempt, failures, error_code, task",
      `${given}, 7, 1, 1, 'HTTP_404', '${name}'`.replace("STATE", "belfry.now(), belfry.now()"),
    );
  const match = await task("match", "'FAILED', STATE");
  const review = await task("review", "'SKIPPED', STATE");
  const publish = await task("publish", "'SKIPPED', STATE");
  const edge = "insert into belfry.edge (from_id, to_id, run_id) values ($1, $2, 7)";
  await opened.pool.query(edge, [match, review]);
  await opened.pool.query(edge, [review, publish]);
  await opened.pool.query(
    `insert into belfry.history (job_id, at, from_state, to_state, attempt, generation, reason)
     values ($1, belfry.now(), 'PENDING', 'SKIPPED', 0, 0, 'upstream')`,
    [publish],
  );
  const answer = await why(opened, publish);
  expect(answer["sentence"]).toContain(`task "match" before it failed first with HTTP_404, as job ${match}`);
  expect(answer["waitsFor"]).toEqual([match]);
});

test("a job that waits comes with its explanation when that is asked for, an ended one without", async () => {
  const opened = await openApi();
  const waiting = await plant(opened, "state, due_at", "'PENDING', belfry.now() + interval '1 h'");
  const { body } = await opened.call("GET", `/jobs/${waiting}?include=explanation`);
  expect(body).toMatchObject({ id: waiting, explanation: await why(opened, waiting) });
  expect((await opened.call("GET", `/jobs/${waiting}`)).body).not.toHaveProperty("explanation");
  const ended = await plant(opened, "state, due_at, finished_at, attempt", "'SUCCESS', belfry.now(), belfry.now(), 1");
  expect((await opened.call("GET", `/jobs/${ended}?include=explanation`)).body).not.toHaveProperty("explanation");
});

test("the job that started a FAILED run names the task of it that failed first", async () => {
  const opened = await openApi();
  const ended = "state, due_at, finished_at";
  const starter = await plant(opened, ended, "'SUCCESS', belfry.now(), belfry.now()");
  await opened.pool.query(
    `insert into belfry.run (id, kind, key, version, state, sealed, starter_id, created_at, finished_at)
     overriding system value values (7, 'night', 'night:1', 1, 'FAILED', true, $1, belfry.now(), belfry.now())`,
    [starter],
  );
  const failed = (task: string, seconds: number): Promise<JobId> =>
    plant(
      opened,
      `${ended}, run_id, attempt, failures, error_code, task`,
      `'FAILED', belfry.now(), belfry.now() + interval '${seconds} seconds', 7, 1, 1, 'HTTP_404', '${task}'`,
    );
  await failed("later", 2);
  const match = await failed("match", 1);
  expect(await why(opened, starter)).toMatchObject({
    sentence: expect.stringContaining(
      `run 7 that it started is FAILED: task "match" failed first with HTTP_404, as job ${match}`,
    ),
    advice: "repeat that task and what waited for it: belfry runs retry 7",
    waitsFor: [match],
  });
});
