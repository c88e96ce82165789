import type { JobState, ShownJob } from "../shape.ts";
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

type Phased = Pick<ShownJob, "state" | "phase">;

/** The state of a job; before it starts, what it waits for. */
export const JobBadge = ({ job }: { readonly job: Phased }) => <StateBadge state={job.state} text={phaseText(job)} />;

const phaseStarts = [
  ["scheduled", "scheduled"],
  ["retrying", "retrying"],
  ["held", "slot"],
  ["paused", "paused"],
  ["waiting for predecessors", "predecessors"],
  ["waiting", "waiting"],
  ["queued", "waiting"],
] as const;

export function phaseText({ state, phase }: Phased): string {
  const found = phaseStarts.find(([start]) => phase.startsWith(start));
  return found === undefined ? words.states[state] : words.phases[found[1]];
}
