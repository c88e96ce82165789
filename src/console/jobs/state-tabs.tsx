import { Icon } from "../parts/icon.tsx";
import { states } from "../shape.ts";
import { stateWords } from "../words.ts";

interface StateTabsProps {
  readonly filter: string;
  /** The state's name in the filter, or null for all. */
  readonly onFilter: (state: string | null) => void;
}

/** One click for the filter that is wanted most. */
export function StateTabs({ filter, onFilter }: StateTabsProps) {
  const chosen = /(?:^|\s)state:(\S+)/i.exec(filter)?.[1]?.toLowerCase() ?? null;
  return (
    <div class="tabs" role="group" aria-label="State">
      <button type="button" aria-pressed={chosen === null} onClick={() => onFilter(null)}>
        All
      </button>
      {states.map((state) => (
        <button
          key={state}
          type="button"
          class={`state-${state.toLowerCase()}`}
          aria-pressed={chosen === state.toLowerCase()}
          onClick={() => onFilter(state.toLowerCase())}
        >
          <Icon name={state} size={12} />
          {stateWords[state]}
        </button>
      ))}
    </div>
  );
}
