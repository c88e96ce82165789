import { createTestSystem, type TestSystem } from "belfry/testing";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { readLedger } from "../fake/ledger.ts";
import { type FakeProcess, startFake } from "../fake/start.ts";
import app, { sendPush } from "./app.ts";
import { leaves, neverSubscribed, treatmentOf } from "./input.ts";
import { quizOf } from "./quiz.ts";
import { routes } from "./routes.ts";
import { seed } from "./seed.ts";

let service: FakeProcess;
beforeAll(async () => {
  service = await startFake(new URL("./fakes/push-service.ts", import.meta.url));
  // Read once a process, when the first push is sent.
  process.env["QUIZ_PUSH_URL"] = service.env["QUIZ_PUSH_URL"];
});
afterAll(() => service.stop());

let systems = 0;

/** Keys of effects are made of job ids: the systems share the service, so none gives the ids of another. */
async function newSystem(at = "2031-05-01T00:00:00Z", stage = "demo"): Promise<TestSystem> {
  const system = await createTestSystem({ apps: [app], stage, at, databaseUrl: inject("postgresUrl") });
  systems += 1;
  await system.database.query(`alter table belfry.job alter id restart with ${systems * 10_000}`);
  return system;
}

let days = 0;

/** Each test has a day of its own, by which its calls are found in the one ledger. */
function newDay(): string {
  days += 1;
  return new Date(Date.UTC(2031, 4, days)).toISOString().slice(0, 10);
}

const push = (user: number, day: string) => ({ userId: String(user), quizId: quizOf(day), day });

const callsOn = (day: string) => readLedger(service.home, "daily-quiz-push").filter((entry) => entry["day"] === day);

/** The target in the quiz system's own words. */
async function wordOf({ database }: TestSystem, id: string): Promise<Record<string, unknown> | undefined> {
  const text = "select status, retry_count, error_code from daily_quiz.quiz_notification_log where id = $1";
  return (await database.query(text, [id])).rows[0];
}

test("a worker that dies in the call: the target is called again with the same key", async () => {
  const day = newDay();
  await using system = await newSystem();
  system.crash("before-settle");
  const { id } = await sendPush.enqueue(push(1, day), { key: `${day}:1` });
  await system.drain();
  expect(await wordOf(system, id)).toMatchObject({ status: "PROCESSING" });
  await system.advance("3m");
  expect(await wordOf(system, id)).toMatchObject({ status: "SENT" });
  const calls = callsOn(day);
  expect(calls.map(({ outcome }) => outcome)).toEqual(["sent", "repeated"]);
  expect(new Set(calls.map(({ key }) => key))).toEqual(new Set([`${id}:push`]));
  expect(await system.job(id)).toMatchObject({ attempt: 2 });
});

test("a target that exists gets no second one, and one that was sent is not called again when its message comes back", async () => {
  const day = newDay();
  await using system = await newSystem();
  // The worker dies between the outcome and the message's delete.
  system.crash("settled");
  const { id } = await sendPush.enqueue(push(1, day), { key: `${day}:1` });
  expect(await wordOf(system, id)).toMatchObject({ status: "QUEUED" });
  expect(await sendPush.enqueue(push(1, day), { key: `${day}:1` })).toMatchObject({ id, created: false });
  await system.drain();
  expect(await sendPush.enqueue(push(1, day), { key: `${day}:1` })).toMatchObject({ id, created: false });
  await system.advance("10m");
  expect(await wordOf(system, id)).toMatchObject({ status: "SENT" });
  expect(callsOn(day).map(({ outcome }) => outcome)).toEqual(["sent"]);
});

const userWith = (treatment: string): number => {
  for (let user = 1; user < 1_000; user += 1)
    if (treatmentOf(user, { mood: "mixed" }) === treatment && !leaves(user)) return user;
  throw new Error(`no user is treated "${treatment}"`);
};

describe("what a call was answered decides what follows", () => {
  test.each([
    ["gone", ["gone"], { status: "FAILED", retry_count: 0, error_code: "HTTP_410" }],
    ["busy twice", ["busy", "busy", "sent"], { status: "SENT", retry_count: 2 }],
    ["always busy", ["busy", "busy", "busy", "busy"], { status: "FAILED", retry_count: 3, error_code: "HTTP_503" }],
    ["throttled once", ["throttled", "sent"], { status: "SENT", retry_count: 1 }],
    ["answer lost", ["lost", "repeated"], { status: "SENT", retry_count: 1 }],
  ])("a user whose push is %s is called %j", async (treatment, outcomes, word) => {
    const day = newDay();
    await using system = await newSystem();
    const { id } = await sendPush.enqueue(push(userWith(treatment), day));
    await system.advance("30m");
    expect(callsOn(day).map(({ outcome }) => outcome)).toEqual(outcomes);
    expect(await wordOf(system, id)).toMatchObject(word);
  });

  test("a refused call is repeated after five minutes, not before", async () => {
    const day = newDay();
    await using system = await newSystem();
    await sendPush.enqueue(push(userWith("busy once"), day));
    await system.advance("295s");
    expect(callsOn(day)).toHaveLength(1);
    await system.advance("6s");
    expect(callsOn(day).map(({ outcome }) => outcome)).toEqual(["busy", "sent"]);
  });
});

async function words({ database }: TestSystem): Promise<Readonly<Record<string, number>>> {
  const text = "select status, count(*)::int as n from daily_quiz.quiz_notification_log group by 1 order by 1";
  const { rows } = await database.query<{ status: string; n: number }>(text);
  return Object.fromEntries(rows.map(({ status, n }) => [status, n]));
}

test("targets are PENDING ten minutes before, for subscribers only, and who unsubscribes before the quiz is not called", async () => {
  // 07:49 in Seoul: a minute before the targets are written.
  await using system = await newSystem("2031-06-01T22:49:00Z");
  await seed(system.database, 20);
  await system.drain();
  expect(await words(system)).toEqual({});
  await system.advance("61s");
  const subscribed = Array.from({ length: 20 }, (_, index) => index + 1).filter((user) => !neverSubscribed(user));
  expect(await words(system)).toEqual({ PENDING: subscribed.length });
  await system.database.query("update daily_quiz.app_user set notify = false where id in (1, 6)");
  await system.advance("10m");
  const { UNSUBSCRIBED: left, ...called } = await words(system);
  expect(left).toBe(2);
  expect(Object.values(called).reduce((sum, n) => sum + n, 0)).toBe(subscribed.length - 2);
  expect(called).not.toHaveProperty("PENDING");
});

test("a second quiz of the same day is for newcomers only, and says how many targets exist already", async () => {
  // In this stage the day is asked for again every ten minutes, and a user signs up each minute.
  await using system = await newSystem("2031-06-01T22:49:30Z", "examples");
  await seed(system.database, 20);
  await system.advance("20m");
  const text = `select (result ->> 'targets')::int as targets, (result ->> 'existing')::int as existing from belfry.job
    where kind = 'daily-quiz' and schedule_id = 'daily-quiz-latecomers' order by id desc limit 1`;
  const [counts] = (await system.database.query<{ targets: number; existing: number }>(text)).rows;
  const log = "select count(*)::int as n, count(distinct user_id)::int as users from daily_quiz.quiz_notification_log";
  const [{ n, users } = { n: 0, users: 0 }] = (await system.database.query<{ n: number; users: number }>(log)).rows;
  expect(users).toBe(n);
  // One a minute, less or more the two who sign up at the moments of these quizzes.
  expect([9, 10, 11]).toContain(counts?.targets);
  expect(counts?.existing).toBeGreaterThanOrEqual(10);
  const { days: funnel } = (await (await routes.request("/days")).json()) as {
    days: (Record<string, number> & Record<"day" | "zone", string>)[];
  };
  const lines = funnel.map(({ day, zone }) => `${day} ${zone}`);
  expect(new Set(lines).size).toBe(lines.length);
  const parts = ["waiting", "processing", "retrying", "sent", "unsubscribed", "dead_letters"];
  const sums = funnel.map((line) => parts.reduce((sum, part) => sum + (line[part] ?? Number.NaN), 0));
  expect(sums).toEqual(funnel.map(({ targets }) => targets));
  expect(sums.reduce((sum, count) => sum + count, 0)).toBe(n);
});
