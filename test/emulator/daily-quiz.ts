/** "Deploy the daily quiz" of docs/deploy.md: a subscriber by its route, the list, a trigger, and what the push service got. */
import { startFake } from "../../examples/fake/start.ts";
import { readLedger } from "../../examples/fake/ledger.ts";
import { until } from "../proof/until.ts";
import { belfry } from "./commands.ts";
import { call, type Deployed } from "./scenario.ts";

const schedule = "daily-quiz-seoul";
const waitMs = 90_000;

export const startPushService = () =>
  startFake(new URL("../../examples/daily-quiz/fakes/push-service.ts", import.meta.url), { QUIZ_MOOD: "calm" });

/** @param home of the push service. */
export async function quizOfADay(deployed: Deployed, home: string): Promise<string> {
  const { status, body } = await call(deployed, "POST", "/apps/daily-quiz/users", { zone: "Asia/Seoul" });
  if (status !== 201) throw new Error(`the subscriber was answered ${status}: ${JSON.stringify(body)}`);
  const listed = await belfry(deployed.aws, ["schedules", "list", "--json"], 0);
  if (!listed.includes(schedule)) throw new Error(`schedules list has no ${schedule}:\n${listed}`);
  await belfry(deployed.aws, ["schedules", "trigger", schedule], 0);
  await belfry(deployed.aws, ["schedules", "trigger", schedule], 0);
  const path = `/apps/daily-quiz/users/${String(body["id"])}/notifications`;
  await until("the notification to be sent", waitMs, async () => {
    const { notifications } = (await call(deployed, "GET", path)).body as { notifications: { status: string }[] };
    return notifications.some((each) => each.status === "SENT");
  });
  const pushes = readLedger(home, "daily-quiz-push");
  if (pushes.length !== 1) throw new Error(`two triggers are ${pushes.length} pushes: ${JSON.stringify(pushes)}`);
  return "two triggers are one push";
}
