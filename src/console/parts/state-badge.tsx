import type { JobState } from "../shape.ts";
import { Icon } from "./icon.tsx";
import { words } from "../language/words.ts";

/** Colour, shape and word of a state, always together. */
export const StateBadge = ({ state }: { readonly state: JobState }) => (
  <span class={`state state-${state.toLowerCase()}`} title={words.stateMeanings[state]}>
    <Icon name={state} size={14} />
    {words.states[state]}
  </span>
);
