import { words } from "../language/words.ts";
import { myZone } from "../time.ts";
import { ask } from "../http.ts";
import { answerTo, type QuestionField } from "./dialog.tsx";
import { Time } from "./time.tsx";
import { acting, say } from "./toast.tsx";

interface PausedProps {
  readonly of: { readonly pausedUntil: string | null; readonly pauseReason: string | null };
  readonly zone?: string;
}

/** Until when and why; nothing where neither was said. */
export const Paused = ({ of: { pausedUntil, pauseReason }, zone }: PausedProps) =>
  pausedUntil === null && pauseReason === null ? null : (
    <span class="under dim small">
      {pausedUntil === null ? null : words.pause.lasts(<Time at={pausedUntil} zone={zone} />)}
      {pauseReason === null ? null : <span>{` ${pauseReason}`}</span>}
    </span>
  );

interface Pausable {
  /** Where it is in the API, and its value for the parameter there. */
  readonly at: "/lanes/:name" | "/schedules/:id";
  readonly id: string;
  readonly paused: boolean;
}

/** Pauses after a question, resumes at once. */
export async function togglePause({ at, id, paused }: Pausable, onDone: () => void): Promise<void> {
  const [own, values] = at === "/lanes/:name" ? [words.lanes, { name: id }] : [words.schedules, { id }];
  const name = words.pause.named[at](id);
  const question = { title: words.pause.question(name), text: own.pauseText, danger: true, action: own.pause };
  const pause = paused ? {} : await answerTo({ ...question, fields });
  if (pause === null) return;
  await acting(words.shared.notChanged(name), async () => {
    await ask(`POST ${at}/${paused ? "resume" : "pause"}`, values, { body: bodyOf(pause) });
    say(paused ? words.pause.goesOn(name) : words.pause.isPaused(name));
  });
  onDone();
}

/** Its end is by the reader's clock. */
const bodyOf = ({ until = "", reason = "" }: Readonly<Record<string, string>>) => ({
  ...(until === "" ? {} : { until, timezone: myZone }),
  ...(reason === "" ? {} : { reason }),
});

/** What may be said with a pause. */
const fields: readonly QuestionField[] = [
  { id: "until", name: words.pause.until, hint: words.pause.untilHint },
  { id: "reason", name: words.pause.reason, hint: words.pause.reasonHint },
];
