import { setInterval as ticks } from "node:timers/promises";
import { databasePool } from "belfry/connect";
import { openLedger } from "../../fake/ledger.ts";
import { home } from "../../fake/serve.ts";
import { leaves, usersDefault } from "../input.ts";

const name = "daily-quiz-people";
const ledger = openLedger(home(), name);
const count = Number(process.env["QUIZ_USERS"] ?? usersDefault);
const leavers = Array.from({ length: count }, (_, index) => index + 1).filter(leaves);
const lookMs = 1_000;

// At least a minute before the quiz: a user who leaves in its very moment may still get it.
const leave = `
  update daily_quiz.app_user as u set notify = false
  from daily_quiz.quiz_notification_log as t
  where t.user_id = u.id and u.id = any($1::bigint[]) and u.notify
    and t.status in ('PENDING', 'QUEUED') and t.send_at > belfry.now() + interval '1 minute'
  returning u.id::int as id, t.day`;

const pool = databasePool({ poolSize: 1 });
process.once("SIGTERM", () => process.exit(0));
console.log(JSON.stringify({ ready: name, env: {} }));

/** Some users switch notifications off when their target is written already. */
for await (const _ of ticks(lookMs)) {
  // The database may be away for a while; the next look finds the same users.
  const { rows } = await pool()
    .query<{ id: number; day: string }>(leave, [leavers])
    .catch(() => ({ rows: [] }));
  for (const { id, day } of rows) ledger.append({ key: `${day}:${id}`, user: id, outcome: "left" });
}
