import { useRef } from "preact/hooks";
import type { ReplyAt } from "../../api/api.ts";
import { ask } from "../http.ts";
import { words } from "../language/words.ts";
import { useResource } from "../resource.ts";
import { NextTable } from "./next-fires.tsx";
import type { ScheduleDraft } from "./when.ts";

type PreviewReply = ReplyAt<"GET /preview">;

const restMs = 300;
const shownMax = 3;
const changesMax = 2;
/** Far enough for the next clock changes of a schedule that fires daily. */
const askedTimes = 400;

/** The next times of what is being written, and those that a clock change moves or skips. What is refused says why. */
export function TimesPreview({ draft: { form, text, timezone } }: { readonly draft: ScheduleDraft }) {
  const expression = form === "at" ? "" : text;
  const preview = async (signal: AbortSignal): Promise<PreviewReply | null> => {
    // It is asked for once the fingers rest.
    await new Promise((resolve) => setTimeout(resolve, restMs));
    if (signal.aborted || expression === "") return null;
    return await ask("GET /preview", { expression, timezone, count: askedTimes }, { signal });
  };
  const { data, error } = useResource(`preview ${expression} ${timezone}`, preview, { again: "never" });
  // The times before stay until there are others.
  const before = useRef(data);
  before.current = data ?? before.current;
  const found = expression === "" ? null : before.current;
  if (error !== null) {
    return (
      <p class="problem" role="status">
        {error.message}
      </p>
    );
  }
  if (found === null) return null;
  const changed = found.times
    .slice(shownMax)
    .filter(({ change }) => change !== null)
    .slice(0, changesMax);
  return (
    <section class="times-preview" aria-label={words.occurrences.next}>
      <NextTable times={[...found.times.slice(0, shownMax), ...changed]} zone={found.timezone} />
      {found.notes.map((note) => (
        <p key={note} class="small" lang="en">
          {note}
        </p>
      ))}
    </section>
  );
}
