import { Icon } from "../parts/index.ts";
import type { JobCountsReply } from "../../api/shape/job.ts";
import { numberText, type CountReply } from "../language/number.ts";
import { jobStates } from "./state.ts";
import { words } from "../language/words.ts";

interface StateTabsProps {
  /** How many of each state match the rest of the filter; null until they are counted. */
  readonly counts: JobCountsReply | null;
  readonly filter: string;
  /** The state's name in the filter, or null for all. */
  readonly onFilter: (state: string | null) => void;
}

/** One click for the filter that is wanted most. */
export function StateTabs({ counts, filter, onFilter }: StateTabsProps) {
  const chosen = /(?:^|\s)state:(\S+)/i.exec(filter)?.[1]?.toLowerCase() ?? null;
  return (
    <div class="tabs" role="group" aria-label={words.labels.state}>
      <button type="button" aria-pressed={chosen === null} onClick={() => onFilter(null)}>
        {words.labels.all}
      </button>
      {jobStates.map((state) => (
        <button
          key={state}
          type="button"
          class={`state-${state.toLowerCase()}`}
          aria-pressed={chosen === state.toLowerCase()}
          onClick={() => onFilter(state.toLowerCase())}
        >
          <Icon name={state} size={12} />
          {words.states[state]}
          {counts === null ? null : <span class="tab-count">{countText(counts[state])}</span>}
        </button>
      ))}
    </div>
  );
}

/** Nothing was found before the time to look was over: that is no zero. */
const countText = (count: CountReply): string => (count.isMore && count.count === 0 ? "?" : numberText(count));
