import { addresses } from "../address.ts";
import { ask } from "../http.ts";
import { acting, say, togglePause } from "../parts/index.ts";
import type { ScheduleReply } from "../../api/shape/schedule.ts";
import { words } from "../language/words.ts";

export const toggleSchedule = (
  { id, paused }: Pick<ScheduleReply, "id" | "paused">,
  onDone: () => void,
): Promise<void> => togglePause({ at: "/schedules/:id", id, paused }, onDone);

export const startScheduleOnce = ({ id }: Pick<ScheduleReply, "id">): Promise<void> =>
  acting(words.shared.notChanged(id), async () => {
    const made = await ask("POST /schedules/:id/trigger", { id });
    say(words.schedules.startedOnce(id), { text: words.shared.showJob, href: addresses.job(made.id) });
  });
