import { Icon, Tabs } from "../parts/index.ts";
import { valueIn } from "../filter/terms.ts";
import type { JobCountsReply } from "../../api/shape/job.ts";
import { numberText, type CountReply } from "../language/number.ts";
import type { JobState } from "./state.ts";
import { words } from "../language/words.ts";

interface StateTabsProps {
  /** How many of each state match the rest of the filter; null until they are counted. */
  readonly counts: JobCountsReply | null;
  readonly filter: string;
  /** The states' names in the filter, or null for all. */
  readonly onFilter: (state: string | null) => void;
}

/** What has not started is one: each row says what it waits for. */
const groups = [
  ["PENDING", "QUEUED", "RETRY_WAIT"],
  ["RUNNING"],
  ["SUCCESS"],
  ["FAILED"],
  ["CANCELED"],
  ["SKIPPED"],
] as const satisfies readonly (readonly JobState[])[];

export const notStarted = `state:${groups[0].join().toLowerCase()}`;

/** One click for the filter that is wanted most. */
export const StateTabs = ({ counts, filter, onFilter }: StateTabsProps) => (
  <Tabs
    label={words.labels.state}
    among={[{ value: "", name: words.labels.all }, ...groups.map((states) => tabOf(states, counts))]}
    value={valueIn(filter, "state").toLowerCase()}
    onChoose={(state) => onFilter(state === "" ? null : state)}
  />
);

const tabOf = (states: (typeof groups)[number], counts: JobCountsReply | null) => ({
  value: states.join().toLowerCase(),
  look: `state-${states[0].toLowerCase()}`,
  name: [<Icon name={states[0]} size={12} />, states.length > 1 ? words.attempts.notStarted : words.states[states[0]]],
  count: counts === null ? undefined : countText(sumOf(states, counts)),
});

export const sumOf = (states: readonly JobState[], counts: JobCountsReply): CountReply => ({
  count: states.reduce((sum, each) => sum + counts[each].count, 0),
  isMore: states.some((each) => counts[each].isMore),
});

/** Nothing was found before the time to look was over: that is no zero. */
const countText = (count: CountReply): string => (count.isMore && count.count === 0 ? "?" : numberText(count));
