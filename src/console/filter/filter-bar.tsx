import { useId, useRef, useState } from "preact/hooks";
import { Icon, IconButton } from "../parts/index.ts";
import { filterFieldId } from "../keys.ts";
import { completeTerm, type Suggestion } from "./terms.ts";
import { words } from "../language/words.ts";

interface FilterBarProps {
  /** Of a field that opens with the focus, in a dialog; the page's own is the one that `/` looks for. */
  readonly id?: string;
  readonly text: string;
  /** What is filtered, for those who hear the page. */
  readonly label: string;
  readonly placeholder: string;
  readonly suggest: (text: string) => readonly Suggestion[];
  /** Called with each change that is finished: Enter, a chosen suggestion, leaving the field. */
  readonly onFilter: (text: string) => void;
}

/** A text field that completes fields and values. Arrow keys choose, Enter takes, Escape closes the list. */
export function FilterBar({ id = filterFieldId, text, label, placeholder, suggest, onFilter }: FilterBarProps) {
  const list = useId();
  const field = useRef<HTMLInputElement>(null);
  const draft = useDraft({ text, suggest, onFilter });
  const take = (suggestion: Suggestion): void => {
    draft.take(suggestion);
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const picked = draft.suggestions[draft.chosen];
    if (event.key === "ArrowDown") draft.move(1);
    else if (event.key === "ArrowUp") draft.move(-1);
    else if (event.key === "Enter" && picked === undefined) draft.finish(draft.value);
    else if ((event.key === "Enter" || (event.key === "Tab" && !event.shiftKey)) && picked !== undefined) take(picked);
    else if (event.key === "Escape" && id !== filterFieldId) return;
    else if (event.key === "Escape" && draft.suggestions.length > 0) draft.close();
    else if (event.key === "Escape") field.current?.blur();
    else return;
    event.preventDefault();
  };
  return (
    <div class="line filter">
      <Icon name="search" size={14} />
      <input
        id={id}
        autofocus={id !== filterFieldId}
        ref={field}
        class="filter-field"
        type="text"
        role="combobox"
        aria-label={label}
        aria-expanded={draft.suggestions.length > 0}
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={draft.chosen >= 0 ? `${list}-${draft.chosen}` : undefined}
        placeholder={placeholder}
        autocomplete="off"
        spellcheck={false}
        value={draft.value}
        onFocus={draft.open}
        onInput={(event) => draft.write(event.currentTarget.value)}
        onKeyDown={onKeyDown}
        onBlur={draft.leave}
      />
      {draft.value === "" ? (
        <kbd class="filter-key">/</kbd>
      ) : (
        <IconButton icon="close" size={14} text={words.filter.clear} onClick={() => draft.finish("")} />
      )}
      <Suggestions id={list} suggestions={draft.suggestions} chosen={draft.chosen} onTake={take} />
    </div>
  );
}

/** What is being written, until it is finished and becomes the filter. */
function useDraft({ text, suggest, onFilter }: Pick<FilterBarProps, "text" | "suggest" | "onFilter">) {
  const [held, setHeld] = useState({ text, value: text, isOpen: false, chosen: -1 });
  const { value, isOpen, chosen } = held.text === text ? held : { value: text, isOpen: false, chosen: -1 };
  const set = (part: Partial<typeof held>): void => setHeld({ text, value, isOpen, chosen, ...part });
  const suggestions = isOpen ? suggest(value) : [];
  const finish = (next: string): void => {
    // Held for the filter that this becomes: going back to the one before shows that one again.
    set({ text: next.trim(), value: next, isOpen: false, chosen: -1 });
    onFilter(next.trim());
  };
  return {
    value,
    chosen,
    suggestions,
    finish,
    open: () => set({ isOpen: true }),
    close: () => set({ isOpen: false, chosen: -1 }),
    write: (next: string) => set({ value: next, isOpen: true, chosen: -1 }),
    leave: () => (value.trim() === text ? set({ isOpen: false, chosen: -1 }) : finish(value)),
    /** One place beyond the last suggestion means none of them. */
    move(step: number) {
      const places = suggestions.length + 1;
      set({ isOpen: true, chosen: ((chosen + 1 + step + places) % places) - 1 });
    },
    take(suggestion: Suggestion) {
      const next = completeTerm(value, suggestion);
      const isWhole = next.endsWith(" ");
      set({ text: isWhole ? next.trim() : text, value: next, chosen: -1, isOpen: true });
      if (isWhole) onFilter(next.trim());
    },
  };
}

interface SuggestionsProps {
  readonly id: string;
  readonly suggestions: readonly Suggestion[];
  readonly chosen: number;
  readonly onTake: (suggestion: Suggestion) => void;
}

const Suggestions = ({ id, suggestions, chosen, onTake }: SuggestionsProps) => (
  <ul
    id={id}
    class="suggestions"
    role="listbox"
    aria-label={words.filter.suggestions}
    hidden={suggestions.length === 0}
  >
    {suggestions.map((suggestion, index) => (
      // The keys are handled by the field, which keeps the focus.
      <li
        key={suggestion.word}
        id={`${id}-${index}`}
        role="option"
        aria-selected={index === chosen}
        onMouseDown={(event) => {
          event.preventDefault();
          onTake(suggestion);
        }}
      >
        <span class="mono">{suggestion.word}</span>
        <span class="dim">{suggestion.hint}</span>
      </li>
    ))}
  </ul>
);

/** What is wrong with a filter. While there is anything, it matches nothing: a mistake must not widen what follows. */
export const FilterProblems = ({ problems }: { readonly problems: readonly string[] }) =>
  problems.length === 0 ? null : (
    <div class="problem" role="alert">
      {problems.map((problem) => (
        <p key={problem}>{problem}</p>
      ))}
      <p class="dim">{words.filter.nothingUntilCorrected}</p>
    </div>
  );
