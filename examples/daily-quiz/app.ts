import { defineApp, defineFanOut, defineJob, defineSchedule, sql } from "belfry";
import { httpClient } from "belfry/http";
import { z } from "zod";
import { quizOf } from "./quiz.ts";
import { routes } from "./routes.ts";
import { isStillSubscribed, subscribe } from "./subscribers.ts";

const limits = { headersMs: 10_000, totalMs: 15_000, answerBytesMax: 4_096 };
const pushService = httpClient({ baseUrl: { env: "QUIZ_PUSH_URL" }, ...limits });
const accepted = z.object({ messageId: z.string() });

/** One notification to one user. 408, 425, 429, 5xx and no answer: again in 5 minutes, 3 times; any other 4xx: dead letter. */
export const sendPush = defineJob({
  id: "send-push",
  lane: "push",
  environment: ["QUIZ_PUSH_URL"],
  timeout: "20s",
  // A worker that dies is noticed after a minute, well before the five minutes of a retry.
  lease: "1m",
  retry: { maxAttempts: 4, backoff: "fixed", base: "5m" },
  payload: z.object({ userId: z.string(), quizId: z.string(), day: z.iso.date() }),
  async run(push, ctx) {
    const call = { idempotencyKey: ctx.effectKey("push"), signal: ctx.signal };
    return (await pushService.send({ method: "POST", path: "/push", json: push, ...call })).json(accepted);
  },
});

/**
 * The quiz of one day in one zone: a target for each subscriber, written 10 minutes ahead. Dead letters leave the day DONE,
 * unless more than half of the targets are (`tolerate`).
 */
const dailyQuiz = defineFanOut({
  id: "daily-quiz",
  from: (s) => sql<{ id: string }>`select id from daily_quiz.app_user where notify and zone = ${s.timezone}`,
  key: (user, s) => `${s.day}:${user.id}`,
  each: sendPush,
  payload: (user, s) => ({ userId: user.id, quizId: quizOf(s.day), day: s.day }),
  materializeBefore: "10m",
  stillWanted: (user) => isStillSubscribed(user.id),
  tolerate: 0.5,
});

const enabled = { prod: true, systems: true, examples: true, demo: true };
const daily = { run: dailyQuiz, misfire: "latest", enabled } as const;

/** One instant, 23:00 UTC, on two different days: each zone gets the quiz of its own day. */
const seoul = defineSchedule({ id: "daily-quiz-seoul", cron: "0 8 * * *", timezone: "Asia/Seoul", ...daily });
const saoPaulo = defineSchedule({
  id: "daily-quiz-sao-paulo",
  cron: "0 20 * * *",
  timezone: "America/Sao_Paulo",
  ...daily,
});

/** A subscriber a minute, so that there are always some who have no quiz of today yet. */
const signUps = defineSchedule({
  id: "quiz-sign-ups",
  every: { examples: "1m" },
  run: defineJob({ id: "quiz-sign-ups", run: (_, ctx) => ctx.tx((tx) => subscribe(tx, "Asia/Seoul")) }),
  misfire: "skip",
  enabled: { examples: true },
});

/** Who subscribes later gets the quiz of today too, 10 to 20 minutes later; a target that exists stays the only one. */
const latecomers = defineSchedule({
  id: "daily-quiz-latecomers",
  cron: "*/10 8-23 * * *",
  timezone: "Asia/Seoul",
  run: dailyQuiz,
  misfire: "skip",
  enabled: { examples: true },
});

export default defineApp({
  name: "daily-quiz",
  schedules: [seoul, saoPaulo, signUps, latecomers],
  // By default 5 workers with 10 jobs each: the push service gets 50 calls at once at most, without slot rows in Postgres.
  lanes: { push: { batchSize: 10, concurrency: { default: 5, examples: 2, demo: 2 } } },
  migrations: new URL("./migrations/", import.meta.url),
  routes,
});
