/** The push service's ledger against our books, call by call. */
import type { Answer, Call } from "../../examples/daily-quiz/input.ts";
import { readLedger } from "../../examples/fake/ledger.ts";
import { type Check, type Evidence, noneOf } from "./judge.ts";

export interface Attempt {
  readonly outcome: string;
  readonly code: string | null;
}

export interface Target {
  readonly jobId: string;
  readonly user: number;
  readonly day: string;
  readonly status: string;
  readonly reason: string | null;
  readonly failed: number;
  readonly attempts: readonly Attempt[];
  /** Tries whose worker died or was stopped. */
  readonly lost: number;
  /** A try began before the quiz's time. */
  readonly early: boolean;
  /** What the push service says of this user and day. */
  readonly calls: readonly Call[];
}

const targetsSql = `
  select target.id::text as "jobId", target.user_id::int as "user", target.day, target.status,
    target.error_code as reason, job.failures as failed,
    coalesce((select jsonb_agg(jsonb_build_object('outcome', outcome, 'code', error_code) order by attempt)
      from belfry.attempt where job_id = target.id), '[]') as attempts,
    exists (select from belfry.attempt where job_id = target.id and started_at < run_start.due_at) as early
  from daily_quiz.quiz_notification_log as target
    join belfry.job on job.id = target.id
    join belfry.run on run.id = target.run_id
    join lateral (select scheduled_for as due_at from belfry.job where id = run.starter_id) as run_start on true
  order by target.id`;

export async function readTargets({ db, ledgers }: Evidence): Promise<readonly Target[]> {
  const { rows } = await db.query<Omit<Target, "calls" | "lost">>(targetsSql);
  const calls = Map.groupBy(readCalls(ledgers), ({ user, day }) => `${user} ${day}`);
  return rows.map((row) => ({
    ...row,
    lost: row.attempts.filter((one) => outcomeOf(one) === "unknown" && one.code !== "TIMEOUT").length,
    calls: calls.get(`${row.user} ${row.day}`) ?? [],
  }));
}

const readCalls = (ledgers: string): readonly Call[] =>
  readLedger(ledgers, "daily-quiz-push") as readonly unknown[] as readonly Call[];

type Seen = "accepted" | "gone" | "busy" | "throttled" | "unknown";

const codes: Readonly<Record<string, Seen>> = { HTTP_410: "gone", HTTP_503: "busy", HTTP_429: "throttled" };

/** What a try says of its one call. `unknown`: it ended without an answer, so its call may or may not have arrived. */
const outcomeOf = ({ outcome, code }: Attempt): Seen =>
  outcome === "SUCCESS" ? "accepted" : (codes[code ?? ""] ?? "unknown");

const answers: Readonly<Record<Answer, Seen>> = {
  sent: "accepted",
  repeated: "accepted",
  lost: "unknown",
  hung: "unknown",
  gone: "gone",
  busy: "busy",
  throttled: "throttled",
};

/**
 * Each try that had an answer is one line of the ledger with that answer. What the ledger has besides are calls of tries
 * that ended without one: at most one each, and the only ones that may have notified a person twice.
 */
export function reconcile(targets: readonly Target[], { ledgers }: Evidence): readonly Check[] {
  const unexplained = targets.flatMap((target) => {
    const problem = mismatch(target);
    return problem === null ? [] : [`user ${target.user}: ${problem}`];
  });
  const keys = targets.filter(({ calls, jobId }) => calls.some(({ key }) => key !== `${jobId}:push`));
  const total = targets.reduce((sum, { calls }) => sum + calls.length, 0);
  const all = readCalls(ledgers).length;
  const repeats = targets.flatMap(({ calls }) => calls.filter(({ outcome }) => outcome === "repeated"));
  const again = targets.filter((target) => accepted(target) > 1);
  const outside = again.filter((target) => accepted(target) - 1 > unknown(target));
  return [
    noneOf(
      "the push ledger reconciles with the books, call by call",
      [...unexplained, ...(total === all ? [] : [`${all - total} calls for nobody`])],
      `${all} calls`,
    ),
    noneOf("each target has one idempotency key", keys, `${targets.length} targets`, ({ user }) => `user ${user}`),
    noneOf(
      "a call that was taken is repeated only where its answer did not come back",
      outside,
      `${repeats.length} repeats with the same key, of ${again.length} users`,
      ({ user }) => `user ${user}`,
    ),
  ];
}

const accepted = ({ calls }: Target): number =>
  calls.filter(({ outcome }) => outcome === "sent" || outcome === "lost" || outcome === "repeated").length;

const unknown = ({ attempts }: Target): number => attempts.filter((one) => outcomeOf(one) === "unknown").length;

function mismatch(target: Target): string | null {
  const lines = target.calls.map(({ outcome }) => answers[outcome]);
  for (const said of target.attempts.map(outcomeOf).filter((one) => one !== "unknown")) {
    const at = lines.indexOf(said);
    if (at < 0) return `a try was answered ${said}, and the push service knows nothing of it`;
    lines.splice(at, 1);
  }
  if (lines.length <= unknown(target)) return null;
  return `${lines.length} calls (${lines.join(", ")}) for ${unknown(target)} tries without an answer`;
}
