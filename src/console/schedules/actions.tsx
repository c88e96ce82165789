import { addresses } from "../address.ts";
import { requestPause, requestResume, requestTrigger } from "../client.ts";
import { confirmed } from "../parts/confirm.tsx";
import { say, sayFailed } from "../parts/toast.tsx";
import type { ShownSchedule } from "../shape.ts";

/** Pauses after a question, resumes at once. */
export async function togglePause(
  { id, paused }: Pick<ShownSchedule, "id" | "paused">,
  onDone: () => void,
): Promise<void> {
  const text = "Until it is resumed, its times are skipped, with the reason “paused”.";
  if (!paused && !(await confirmed({ title: `Pause ${id}?`, text, action: "Pause the schedule", danger: true })))
    return;
  try {
    await (paused ? requestResume(id) : requestPause(id));
    say(paused ? `${id} goes on` : `${id} is paused`);
  } catch (error) {
    sayFailed(`${id} was not changed`, error);
  }
  onDone();
}

export async function startScheduleOnce({ id }: Pick<ShownSchedule, "id">): Promise<void> {
  try {
    const made = await requestTrigger(id);
    say(`${id} was started once`, { text: "Show the job", href: addresses.job(made.id) });
  } catch (error) {
    sayFailed(`${id} was not started`, error);
  }
}
