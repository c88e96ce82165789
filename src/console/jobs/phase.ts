import type { ShownJob } from "../shape.ts";
import { words } from "../language/words.ts";

export type Phased = Pick<ShownJob, "state" | "phase">;

const { phases } = words;

/** By the first word of the API's sentence. */
const textOfFirst: Readonly<Record<string, string>> = {
  scheduled: phases.scheduled,
  retrying: phases.retrying,
  "held:": phases.slot,
  paused: phases.paused,
  waiting: phases.waiting,
  queued: phases.waiting,
};

/** The state of a job; before it starts, what it waits for. */
export function phaseText({ state, phase }: Phased): string {
  if (phase.endsWith("predecessors")) return phases.predecessors;
  return textOfFirst[phase.split(" ")[0] ?? ""] ?? words.states[state];
}
