import { type Phased, phaseText } from "../jobs/phase.ts";
import type { JobState } from "../jobs/state.ts";
import { Icon } from "./icon.tsx";
import { words } from "../language/words.ts";

interface StateBadgeProps {
  readonly state: JobState;
  /** What else is said instead of the state's name. */
  readonly text?: string;
}

/** Colour, shape and word of a state, always together. */
export const StateBadge = ({ state, text = words.states[state] }: StateBadgeProps) => (
  <span class={`state state-${state.toLowerCase()}`} title={`${words.states[state]}: ${words.stateMeanings[state]}`}>
    <Icon name={state} size={14} />
    {text}
  </span>
);

/** The state of a job; before it starts, what it waits for. */
export const JobBadge = ({ job }: { readonly job: Phased }) => <StateBadge state={job.state} text={phaseText(job)} />;
