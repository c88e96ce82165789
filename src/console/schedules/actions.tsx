import { addresses } from "../address.ts";
import { ask } from "../http.ts";
import { acting, answerTo, pauseFields, pauseOf, say } from "../parts/index.ts";
import type { ScheduleReply } from "../../api/shape/schedule.ts";
import { words } from "../language/words.ts";

/** Pauses after a question, resumes at once. */
export async function togglePause(
  { id, paused }: Pick<ScheduleReply, "id" | "paused">,
  onDone: () => void,
): Promise<void> {
  const question = { title: words.schedules.pauseQuestion(id), text: words.schedules.pauseText, danger: true };
  const pause = paused ? {} : await answerTo({ ...question, fields: pauseFields, action: words.schedules.pause });
  if (pause === null) return;
  await acting(words.schedules.notChanged(id), async () => {
    await ask(`POST /schedules/:id/${paused ? "resume" : "pause"}`, { id }, { body: pauseOf(pause) });
    say(paused ? words.schedules.goesOn(id) : words.schedules.isPaused(id));
  });
  onDone();
}

export const startScheduleOnce = ({ id }: Pick<ScheduleReply, "id">): Promise<void> =>
  acting(words.schedules.notStarted(id), async () => {
    const made = await ask("POST /schedules/:id/trigger", { id });
    say(words.schedules.startedOnce(id), { text: words.shared.showJob, href: addresses.job(made.id) });
  });
