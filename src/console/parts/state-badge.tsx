import type { JobState } from "../shape.ts";
import { stateMeanings, stateWords } from "../words.ts";
import { Icon } from "./icon.tsx";

/** Colour, shape and word of a state, always together. */
export const StateBadge = ({ state }: { readonly state: JobState }) => (
  <span class={`state state-${state.toLowerCase()}`} title={stateMeanings[state]}>
    <Icon name={state} size={14} />
    {stateWords[state]}
  </span>
);
