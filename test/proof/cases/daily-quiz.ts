import { quizJudge } from "../../demo/daily-quiz.ts";
import { startExample } from "../example-system.ts";
import { killNowAndThen } from "../killer.ts";
import { type Proof, seeded } from "../proof.ts";
import { elapsedMs, until } from "../until.ts";

/** Of 16 users 15 are subscribed. */
const users = Math.ceil((50_000 * 16) / 15);
const killEveryMs = 5_000;
const workers = 8;
const scaleDefault = 10;
/** Two minutes before the targets are written, ten before the quiz. */
const startsAt = "22:48";

/** The quiz at full size, while workers are killed at random. */
export const dailyQuiz: Proof = {
  name: "daily-quiz",
  about:
    "50,000 subscribers, 10 % fail for a while and 2 % for good, workers killed: the push ledger reconciles exactly",
  guards: ["key", "rescue"],
  async run(context, list) {
    const size = { users: Math.ceil(users * context.size), mood: "mixed" } as const;
    const { system, evidence } = await startExample(context, {
      name: "daily-quiz",
      label: "quiz",
      scale: context.scale ?? scaleDefault,
      startsAt,
      fakeEnv: { QUIZ_USERS: String(size.users), QUIZ_MOOD: size.mood },
      onDatabase: ["daily-quiz-seed", "daily-quiz-people"],
      lane: ({ name }) => (name === "push" ? { concurrency: workers } : {}),
    });
    const judge = quizJudge(size);
    const { fleet, stop } = system.work({ deadLetters: true });
    const startedMs = elapsedMs();
    const killer = killNowAndThen(system, () => fleet.pids("push"), {
      everyMs: killEveryMs,
      random: seeded(context.seed),
    });
    let reportedMs = 0;
    await until("everybody to be notified", 540_000, async () => {
      const { done, line } = await judge.progress(evidence);
      if (elapsedMs() - reportedMs > 15_000) {
        reportedMs = elapsedMs();
        context.log(line);
      }
      return done;
    }).catch((error: unknown) => list.expect("everybody is notified in time", false, String(error)));
    killer.stop();
    const seconds = (elapsedMs() - startedMs) / 1_000;
    await stop();
    for (const check of await judge.checks(evidence)) {
      list.expect(check.name, check.pass, check.detail);
      if (check.pass) list.figure(check.detail);
    }
    list.expect("workers were killed", killer.count() > 0, killer.count());
    list.figure(`${killer.count()} workers killed in ${seconds.toFixed(0)} s`);
  },
};
