import type { JobReply } from "../../api/shape/job.ts";
import type { MapTask } from "../runs/run-map.ts";
import { words } from "../language/words.ts";

export type Phased = Pick<JobReply, "state" | "phase">;

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

/** The same of a task as a run's page holds it, which knows no due times and no slots. One with rows waits for their jobs. */
export function taskPhaseText({ state, open, rows }: Pick<MapTask, "state" | "open" | "rows">): string {
  if (state === "RETRY_WAIT" && rows !== null) return words.states.RUNNING;
  if (state === "PENDING" && open > 0) return phases.predecessors;
  if (state === "QUEUED") return phases.waiting;
  return state === "RETRY_WAIT" ? phases.retrying : words.states[state];
}

/** The state of a job; before it starts, what it waits for. */
export function phaseText({ state, phase }: Phased): string {
  if (phase.endsWith("predecessors")) return phases.predecessors;
  return textOfFirst[phase.split(" ")[0] ?? ""] ?? words.states[state];
}
