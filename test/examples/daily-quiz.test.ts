import { afterAll, beforeAll, describe, expect, test } from "vitest";
import app from "../../examples/daily-quiz/app.ts";
import { leaves, neverSubscribed, treatmentOf } from "../../examples/daily-quiz/input.ts";
import { quizOf } from "../../examples/daily-quiz/quiz.ts";
import { seed } from "../../examples/daily-quiz/seed.ts";
import { readLedger } from "../../examples/fake/ledger.ts";
import { type ExampleStage, stageOf, type FakeProcess, startFake } from "./stage.ts";

let service: FakeProcess;

beforeAll(async () => {
  service = await startFake(new URL("../../examples/daily-quiz/fakes/push-service.ts", import.meta.url));
  // Read once a process, when the first push is sent.
  process.env["QUIZ_PUSH_URL"] = service.env["QUIZ_PUSH_URL"];
});
afterAll(() => service.stop());

let days = 0;

/** Each test has a day of its own, by which its calls are told apart in the one ledger. */
function newDay(): string {
  days += 1;
  return new Date(Date.UTC(2031, 4, days)).toISOString().slice(0, 10);
}

const push = (user: number, day: string) => ({ userId: String(user), quizId: quizOf(day), day });

const callsOn = (day: string) => readLedger(service.home, "daily-quiz-push").filter((entry) => entry["day"] === day);

/** The target in the quiz system's own words. */
async function wordOf({ db }: ExampleStage, id: string): Promise<Record<string, unknown> | undefined> {
  const { rows } = await db.pool.query(
    "select status, failed_calls, reason from daily_quiz.notification_target where target_id = $1",
    [id],
  );
  return rows[0] as Record<string, unknown> | undefined;
}

describe("the three cases of a message that comes for a target", () => {
  test("already SENT: the call is skipped and the message acknowledged", async () => {
    const day = newDay();
    const stage = await stageOf(app, { lane: "push" });
    const id = await stage.enqueue("send-push", push(1, day), `${day}:1`);
    const records = stage.receive();
    expect(await stage.work(records)).toEqual([]);
    expect(await wordOf(stage, id)).toMatchObject({ status: "SENT" });
    expect(await stage.work(records, stage.another("worker-2"))).toEqual([]);
    expect(callsOn(day).map(({ outcome }) => outcome)).toEqual(["sent"]);
  });

  test("PROCESSING by a worker that died in the call: called again with the same key", async () => {
    const day = newDay();
    let dying = true;
    const stage = await stageOf(app, {
      lane: "push",
      async crashPoint(point) {
        if (point !== "effect.after" || !dying) return;
        dying = false;
        // It never gets to write down that the call was made.
        await new Promise(() => {});
      },
    });
    const id = await stage.enqueue("send-push", push(1, day), `${day}:1`);
    void stage.work();
    await expect.poll(() => callsOn(day).length).toBe(1);
    expect(await wordOf(stage, id)).toMatchObject({ status: "PROCESSING" });
    // Only the database sees the lease pass: the first worker's own clock stands still with it.
    await stage.db.clock.advance(61_000);
    await stage.rescue();
    expect(await stage.work(undefined, stage.another("worker-2"))).toEqual([]);
    expect(await wordOf(stage, id)).toMatchObject({ status: "SENT" });
    const calls = callsOn(day);
    expect(calls.map(({ outcome }) => outcome)).toEqual(["sent", "repeated"]);
    expect(new Set(calls.map(({ key }) => key))).toEqual(new Set([`${id}:push`]));
    const log = "select outcome, code from daily_quiz.push_log where job_id = $1 order by id";
    expect((await stage.db.pool.query(log, [id])).rows).toEqual([
      { outcome: "lost", code: "WORKER_LOST" },
      { outcome: "success", code: null },
    ]);
  });

  test("QUEUED: called, once", async () => {
    const day = newDay();
    const stage = await stageOf(app, { lane: "push" });
    const id = await stage.enqueue("send-push", push(1, day), `${day}:1`);
    expect(await wordOf(stage, id)).toMatchObject({ status: "QUEUED" });
    const records = stage.receive();
    // The queue delivers it twice at once; one of the two workers finds it taken.
    await Promise.all([stage.work(records), stage.work(records, stage.another("worker-2"))]);
    expect(await wordOf(stage, id)).toMatchObject({ status: "SENT" });
    expect(callsOn(day).map(({ outcome }) => outcome)).toEqual(["sent"]);
  });
});

const userWith = (treatment: string): number => {
  for (let user = 1; user < 1_000; user += 1)
    if (treatmentOf(user, { mood: "mixed" }) === treatment && !leaves(user)) return user;
  throw new Error(`no user is treated "${treatment}"`);
};

/** Batches and five minutes, until no try is left. */
async function untilEnd(stage: ExampleStage): Promise<void> {
  for (let turn = 0; turn < 6; turn += 1) {
    await stage.pass();
    await stage.drain();
    await stage.advance(300_000);
  }
}

describe("what a call was answered decides what follows", () => {
  test.each([
    ["gone", ["gone"], { status: "DEAD_LETTER", failed_calls: 1, reason: "HTTP_410" }],
    ["busy twice", ["busy", "busy", "sent"], { status: "SENT", failed_calls: 2 }],
    ["always busy", ["busy", "busy", "busy", "busy"], { status: "DEAD_LETTER", failed_calls: 4, reason: "HTTP_503" }],
    ["throttled once", ["throttled", "sent"], { status: "SENT", failed_calls: 1 }],
    ["answer lost", ["lost", "repeated"], { status: "SENT", failed_calls: 1 }],
  ])("a user whose push is %s is called %j", async (treatment, outcomes, word) => {
    const day = newDay();
    const stage = await stageOf(app, { lane: "push" });
    const id = await stage.enqueue("send-push", push(userWith(treatment), day));
    await untilEnd(stage);
    expect(callsOn(day).map(({ outcome }) => outcome)).toEqual(outcomes);
    expect(await wordOf(stage, id)).toMatchObject(word);
  });

  test("a refused call is repeated after five minutes, not before", async () => {
    const day = newDay();
    const stage = await stageOf(app, { lane: "push" });
    await stage.enqueue("send-push", push(userWith("busy once"), day));
    await stage.drain();
    await stage.advance(295_000);
    await stage.drain();
    expect(callsOn(day)).toHaveLength(1);
    await stage.advance(6_000);
    await stage.drain();
    expect(callsOn(day).map(({ outcome }) => outcome)).toEqual(["busy", "sent"]);
  });
});

async function words(stage: ExampleStage): Promise<Readonly<Record<string, number>>> {
  const text = "select status, count(*)::int as n from daily_quiz.notification_target group by 1 order by 1";
  const { rows } = await stage.db.pool.query<{ status: string; n: number }>(text);
  return Object.fromEntries(rows.map(({ status, n }) => [status, n]));
}

test("targets are PENDING ten minutes before, for subscribers only, and who unsubscribes meanwhile is not called", async () => {
  // 07:49 in Seoul: a minute before the targets are written.
  const stage = await stageOf(app, { lane: "push", at: "22:49" });
  // As a worker has it.
  Object.assign(process.env, { DATABASE_URL: stage.db.url, AWS_REGION: "us-east-1" });
  await seed(stage.db.pool, 20);
  await stage.pass();
  const fanOut = stage.another("fan-out");
  const materialize = async (): Promise<void> => {
    const records = stage.world.queue.receive("default", 10);
    await fanOut.handle(records, { remainingMs: () => 600_000 });
  };
  await materialize();
  expect(await words(stage)).toEqual({});
  await stage.advance(61_000);
  await materialize();
  const subscribed = Array.from({ length: 20 }, (_, index) => index + 1).filter((user) => !neverSubscribed(user));
  expect(await words(stage)).toEqual({ PENDING: subscribed.length });
  await stage.db.pool.query("update daily_quiz.app_user set notify = false where id in (1, 6)");
  await stage.advance(10 * 60_000);
  await stage.pass();
  await stage.drain();
  const { UNSUBSCRIBED: left, ...called } = await words(stage);
  expect(left).toBe(2);
  expect(Object.values(called).reduce((sum, n) => sum + n, 0)).toBe(subscribed.length - 2);
  expect(called).not.toHaveProperty("PENDING");
});
