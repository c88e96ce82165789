import { useEffect, useState } from "preact/hooks";
import { ask } from "../http.ts";
import { words } from "../language/words.ts";
import { type FireTime, NextTable } from "./next-fires.tsx";
import type { ScheduleDraft } from "./when.ts";

interface Previewed {
  readonly times: readonly FireTime[];
  readonly notes: readonly string[];
  readonly timezone: string;
}

const restMs = 300;
const shownMax = 3;
const changesMax = 2;
/** Far enough for the next clock changes of a schedule that fires daily. */
const askedTimes = 400;

/** The next times of what is being written, and those that a clock change moves or skips. What is refused says why. */
export function TimesPreview({ draft: { form, text, timezone } }: { readonly draft: ScheduleDraft }) {
  const [found, setFound] = useState<Previewed | Error | null>(null);
  useEffect(() => {
    if (form === "at" || text === "") {
      setFound(null);
      return undefined;
    }
    const asked = new AbortController();
    const preview = async (): Promise<void> => {
      try {
        const reply = await ask(
          "GET /preview",
          { expression: text, timezone, count: askedTimes },
          { signal: asked.signal },
        );
        if (!asked.signal.aborted) setFound(reply);
      } catch (error) {
        if (!asked.signal.aborted) setFound(error instanceof Error ? error : new Error(String(error)));
      }
    };
    // It is asked for once the fingers rest.
    const timer = setTimeout(() => void preview(), restMs);
    return () => {
      clearTimeout(timer);
      asked.abort();
    };
  }, [form, text, timezone]);
  if (found === null) return null;
  if (found instanceof Error) {
    return (
      <p class="problem" role="status">
        {found.message}
      </p>
    );
  }
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
