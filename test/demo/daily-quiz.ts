import * as example from "../../examples/daily-quiz/input.ts";
import { readLedger } from "../../examples/fake/ledger.ts";
import { type Check, type Evidence, type Judge, noneOf } from "./judge.ts";
import { reconcile, readTargets, type Target } from "./quiz-calls.ts";

export interface QuizSize {
  readonly users: number;
  /** What the push service was started with as `QUIZ_MOOD`. */
  readonly mood: example.Mood;
}

const schedules = ["daily-quiz-seoul", "daily-quiz-sao-paulo"];

export const dailyQuiz: Judge = quizJudge({ users: example.usersDefault, mood: "mixed" });

/** Judges the first quiz of each zone. */
export function quizJudge(size: QuizSize): Judge {
  const people = Array.from({ length: size.users }, (_, index) => index + 1);
  const subscribed = people.filter((user) => !example.neverSubscribed(user));
  return {
    name: "daily-quiz",
    kinds: ["daily-quiz", "send-push"],
    schedules,
    async progress({ db }) {
      const { rows } = await db.query<{ [name: string]: number }>(funnel);
      const { targets = 0, sent = 0, waiting = 0, dead = 0, left = 0, closed = 0 } = rows[0] ?? {};
      const line = `${targets} targets, ${sent} sent, ${waiting} waiting or retrying, ${left} unsubscribed, ${dead} dead letters`;
      return { done: targets >= subscribed.length && waiting === 0 && closed === schedules.length, line };
    },
    async checks(evidence) {
      const targets = await readTargets(evidence);
      return [
        ...targetChecks(targets, subscribed, evidence),
        ...endChecks(targets, size),
        ...reconcile(targets, evidence),
      ];
    },
  };
}

const funnel = `
  select coalesce(sum(targets), 0)::int as targets, coalesce(sum(sent), 0)::int as sent,
    coalesce(sum(waiting + processing + retrying), 0)::int as waiting, coalesce(sum(dead_letters), 0)::int as dead,
    coalesce(sum(unsubscribed), 0)::int as left,
    (select count(*)::int from belfry.run where kind = 'daily-quiz' and finished_at is not null) as closed
  from daily_quiz.quiz_day`;

/** The people's own ledger shows who left. */
function targetChecks(targets: readonly Target[], subscribed: readonly number[], { ledgers }: Evidence) {
  const counts = new Map<number, number>();
  for (const { user } of targets) counts.set(user, (counts.get(user) ?? 0) + 1);
  const left = new Set(readLedger(ledgers, "daily-quiz-people").map(({ user }) => user));
  const known = new Set(subscribed);
  const skipped = targets.filter(({ status }) => status === "UNSUBSCRIBED");
  return [
    noneOf(
      "every subscriber has one target for the day, and no other has one",
      [
        ...subscribed.filter((user) => counts.get(user) !== 1).map((user) => `user ${user}: ${counts.get(user) ?? 0}`),
        ...targets.filter(({ user }) => !known.has(user)).map(({ user }) => `stranger ${user}`),
      ],
      `${targets.length} targets`,
    ),
    noneOf(
      "who unsubscribed in between is not called, and only they are left out",
      [
        ...targets.filter(
          ({ user, status, calls }) => left.has(user) && (status !== "UNSUBSCRIBED" || calls.length > 0),
        ),
        ...skipped.filter(({ user }) => !example.leaves(user)),
      ].map(({ user, status, calls }) => `user ${user} ${status} ${calls.length} calls`),
      `${left.size} left, ${skipped.length} not called`,
    ),
    noneOf(
      "nobody was called before the quiz's time",
      targets.filter(({ early }) => early).map(({ user }) => `user ${user}`),
      "none",
    ),
  ];
}

const ends: Readonly<Record<example.Treatment, { status: string; reason: string | null; failed: number }>> = {
  delivered: { status: "SENT", reason: null, failed: 0 },
  gone: { status: "FAILED", reason: "HTTP_410", failed: 1 },
  "busy once": { status: "SENT", reason: null, failed: 1 },
  "busy twice": { status: "SENT", reason: null, failed: 2 },
  "always busy": { status: "FAILED", reason: "HTTP_503", failed: example.triesMax },
  "throttled once": { status: "SENT", reason: null, failed: 1 },
  "hangs once": { status: "SENT", reason: null, failed: 1 },
  "answer lost": { status: "SENT", reason: null, failed: 1 },
};

/**
 * How each target ended. A worker that died in a call charges a failure too, when it was alone with it, so `failed` is the
 * least; only `always busy` has a most, which is also the limit of tries.
 */
function endChecks(targets: readonly Target[], { mood }: QuizSize): readonly Check[] {
  const called = targets.filter(({ status }) => status !== "UNSUBSCRIBED");
  const wrong = called.filter(({ user, status, reason, failed, lost }) => {
    const end = ends[example.treatmentOf(user, { mood })];
    if (status !== end.status || (status === "FAILED" && reason !== end.reason && lost === 0)) return true;
    return failed < Math.min(end.failed, example.triesMax) && lost === 0;
  });
  const dead = called.filter(({ status }) => status === "FAILED");
  const reasons = [...Map.groupBy(dead, ({ reason }) => reason)].map(([reason, all]) => `${all.length} ${reason}`);
  const failures = called.filter(({ failed }) => failed > 0).length;
  return [
    noneOf(
      "everybody was notified, or is a dead letter with the right reason",
      wrong,
      `${called.length - dead.length} notified, dead letters: ${reasons.join(", ") || "none"}`,
      ({ user, status, reason, failed }) => `user ${user} ${status} ${reason} after ${failed}`,
    ),
    {
      name: "refused calls were repeated",
      pass: mood === "calm" || failures > 0,
      detail: `${failures} users needed more than one try`,
    },
  ];
}
