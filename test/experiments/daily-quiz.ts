import { readLedger } from "../../examples/fake/ledger.ts";
import { type Check, noneOf } from "../demo/judge.ts";
import { until } from "../proof/until.ts";
import { type Experiment, newTag, post, repeated } from "./experiment.ts";

const newcomers = 30;
/** A target that stands there already is sent at the next full ten minutes. */
const waitMs = 12 * 60_000;
const logOf = `
  select j.state::text, j.failures, l.user_id::text as user from daily_quiz.quiz_notification_log l
  join belfry.job j on j.id = l.id where l.user_id = any($1::bigint[])`;

interface Row {
  readonly state: string;
  readonly failures: number;
  readonly user: string;
}

export const workerDies: Experiment = {
  name: "daily-quiz-worker-dies",
  about: `the quiz is triggered twice for ${newcomers} new users, and its workers are killed in their calls`,
  proof: "daily-quiz",
  async run({ api, evidence, pids }, { say }): Promise<readonly Check[]> {
    const users: string[] = [];
    while (users.length < newcomers)
      users.push((await post(`${api}/apps/daily-quiz/users`, { zone: "Asia/Seoul" })).id);
    const tag = newTag();
    for (const n of [1, 2]) await post(`${api}/schedules/daily-quiz-seoul/trigger`, { key: `quiz-${tag}-${n}` });
    let killed = 0;
    // What was refused waits five minutes for its next call: that wait is no part of this question.
    const isSettled = ({ state, failures }: Row): boolean =>
      ["SUCCESS", "FAILED", "SKIPPED"].includes(state) || (failures > 0 && state !== "RUNNING");
    const rows = await until("each new user's call to end", waitMs, async () => {
      const { rows: found } = await evidence.db.query<Row>(logOf, [users]);
      if (killed === 0 && found.some(({ state }) => state === "RUNNING")) {
        for (const pid of pids("worker push")) {
          process.kill(pid, "SIGKILL");
          killed += 1;
        }
        say(`${killed} workers killed`);
      }
      return found.length >= users.length && found.every(isSettled) && found;
    });
    const mine = new Set(users);
    const sent = readLedger(evidence.ledgers, "daily-quiz-push").filter(
      (line) => mine.has(String(line["user"])) && ["sent", "lost"].includes(line.outcome),
    );
    const byUser = Map.groupBy(rows, (row) => row.user);
    const doubled = users.filter((user) => byUser.get(user)?.length !== 1);
    const got = new Set(sent.map((line) => String(line["user"])));
    const missing = rows.filter(({ state, user }) => state === "SUCCESS" && !got.has(user)).map(({ user }) => user);
    return [
      noneOf("each user has one target of the day, although it was triggered twice", doubled, `${users.length} users`),
      noneOf(
        "the push service took each notification once",
        repeated(sent),
        `${sent.length} taken, ${killed} workers killed`,
      ),
      noneOf("what is SENT was taken", missing, `${rows.filter(({ state }) => state === "SUCCESS").length} sent`),
    ];
  },
};
