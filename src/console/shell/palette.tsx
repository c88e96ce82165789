import { signal } from "@preact/signals";
import { useLocation } from "preact-iso";
import { addresses } from "../address.ts";
import { FilterBar } from "../filter/filter-bar.tsx";
import { lastWord, type Suggestion } from "../filter/terms.ts";
import { useCompletions } from "../jobs/known.ts";
import { useKeys } from "../keys.ts";
import { words } from "../language/words.ts";
import { Dialog } from "../parts/index.ts";
import { places } from "./nav.tsx";

interface Goal extends Suggestion {
  readonly href: string;
}

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
    const of = (
      field: string,
      values: readonly string[],
      hint: string,
      hrefOf: (value: string) => string,
    ): readonly Goal[] => values.map((value) => ({ word: `${field}${value}`, hint, href: hrefOf(value) }));
    const all = [
      ...of("job:", number, words.places.jobs, addresses.job),
      ...of("run:", number, words.places.runs, addresses.run),
      ...places.map(({ name, href }) => ({
        word: href.slice(addresses.overview.length) || "overview",
        hint: name,
        href,
      })),
      ...of("schedule:", schedules, words.labels.schedule, addresses.schedule),
      ...of("kind:", kinds, words.labels.kind, (kind) => addresses.jobsWith(`kind:${kind}`)),
      ...of("lane:", lanes, words.labels.lane, (lane) => addresses.jobsWith(`lane:${lane}`)),
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
