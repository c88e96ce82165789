import { signal } from "@preact/signals";
import { useLocation } from "preact-iso";
import { addresses } from "../address.ts";
import { FilterBar } from "../filter/filter-bar.tsx";
import { lastWord, quote, type Suggestion } from "../filter/terms.ts";
import { useCompletions } from "../jobs/known.ts";
import { useKeys } from "../keys.ts";
import { words } from "../language/words.ts";
import { Dialog } from "../parts/index.ts";
import { places } from "./nav.tsx";

interface Goal extends Suggestion {
  readonly href: string;
}

const jobsOf = (field: string) => (value: string) => addresses.jobsWith(`${field}:${quote(value)}`);
const isOpen = signal(false);
const goalsMax = 10;

/** Ctrl-K: one field that leads to every screen, schedule, kind and lane, and to a job or a run by its number. */
export function Palette() {
  useKeys([{ keys: "Ctrl-K", does: words.shell.palette, run: () => (isOpen.value = true) }]);
  return isOpen.value ? <Open /> : null;
}

function Open() {
  const { route } = useLocation();
  const completions = useCompletions();
  const goals = (text: string): readonly Goal[] => {
    const typed = text.trim().toLowerCase();
    const number = /^\d{1,18}$/.test(typed) ? [typed] : [];
    const { schedules, kinds, lanes } = completions();
    const { labels, places: names } = words;
    const of = (name: string, values: readonly string[], hint: string, hrefOf = jobsOf(name)): readonly Goal[] =>
      values.map((value) => ({ word: `${name}:${value}`, hint, href: hrefOf(value) }));
    const all = [
      ...of("job", number, names.jobs, addresses.job),
      ...of("run", number, names.runs, addresses.run),
      ...places.map(({ name: hint, href }) => ({ word: href.split("/").at(-1) || "overview", hint, href })),
      ...of("schedule", schedules, labels.schedule, addresses.schedule),
      ...of("kind", kinds, labels.kind),
      ...of("lane", lanes, labels.lane),
    ];
    return all.filter(({ word, hint }) => `${word} ${hint}`.toLowerCase().includes(typed)).slice(0, goalsMax);
  };
  return (
    <Dialog title={words.shell.palette} onClose={() => (isOpen.value = false)} wide>
      {(close) => (
        <div class="palette">
          <FilterBar
            id="palette"
            text=""
            label={words.shell.palette}
            placeholder={words.shell.paletteHint}
            suggest={goals}
            onFilter={(text) => {
              const word = lastWord(text);
              const found = goals(word);
              const goal = found.find((each) => each.word === word) ?? found[0];
              if (goal === undefined) return;
              close();
              route(goal.href);
            }}
          />
        </div>
      )}
    </Dialog>
  );
}
