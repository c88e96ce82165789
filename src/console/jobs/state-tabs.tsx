import { Icon, Tabs } from "../parts/index.ts";
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
export const StateTabs = ({ counts, filter, onFilter }: StateTabsProps) => (
  <Tabs
    label={words.labels.state}
    among={[{ value: "", name: words.labels.all }, ...jobStates.map((state) => tabOf(state, counts))]}
    value={/(?:^|\s)state:(\S+)/i.exec(filter)?.[1]?.toLowerCase() ?? ""}
    onChoose={(state) => onFilter(state === "" ? null : state)}
  />
);

const tabOf = (state: (typeof jobStates)[number], counts: JobCountsReply | null) => ({
  value: state.toLowerCase(),
  look: `state-${state.toLowerCase()}`,
  name: [<Icon name={state} size={12} />, words.states[state]],
  count: counts === null ? undefined : countText(counts[state]),
});

/** Nothing was found before the time to look was over: that is no zero. */
const countText = (count: CountReply): string => (count.isMore && count.count === 0 ? "?" : numberText(count));
