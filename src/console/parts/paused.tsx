import { words } from "../language/words.ts";
import { myZone } from "../time.ts";
import { Time } from "./time.tsx";
import type { QuestionField } from "./dialog.tsx";

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

/** What was said with a pause, as the API takes it: its end is by the reader's clock. */
export const pauseOf = ({ until = "", reason = "" }: Readonly<Record<string, string>>) => ({
  ...(until === "" ? {} : { until, timezone: myZone }),
  ...(reason === "" ? {} : { reason }),
});

/** What may be said with a pause. */
export const pauseFields: readonly QuestionField[] = [
  { id: "until", name: words.pause.until, hint: words.pause.untilHint },
  { id: "reason", name: words.pause.reason, hint: words.pause.reasonHint },
];
