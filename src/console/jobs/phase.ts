import type { JobReply } from "../../api/shape/job.ts";
import type { IconName } from "../parts/icon.tsx";
import type { MapTask } from "../runs/run-map.ts";
import type { JobState } from "./state.ts";
import { words } from "../language/words.ts";

export type Phased = Pick<JobReply, "state" | "phase">;

/** One word, one icon and one colour for each phase, on every page. */
export interface Look {
  readonly text: string;
  readonly state: JobState | "LOST" | "RELEASED";
  readonly icon: IconName;
}

export const lookOf = (state: JobState): Look => ({ state, icon: state, text: words.states[state] });
export const heldLook = (text: string): Look => ({ state: "RETRY_WAIT", icon: "pause", text });

const { phases } = words;

/** By the first word of the API's sentence. */
const looks: Readonly<Record<string, Look>> = {
  scheduled: lookOf("PENDING"),
  retrying: lookOf("RETRY_WAIT"),
  "held:": heldLook(phases.slot),
  paused: heldLook(phases.paused),
  waiting: lookOf("QUEUED"),
  queued: lookOf("QUEUED"),
};

/** Of a task as a run's page holds it, which knows no due times and no slots. One with rows waits for their jobs. */
export function taskLook({ state, open, rows }: Pick<MapTask, "state" | "open" | "rows">): Look {
  if (state === "RETRY_WAIT" && rows !== null) return lookOf("RUNNING");
  return state === "PENDING" && open > 0 ? heldLook(phases.predecessors) : lookOf(state);
}

/** The state of a job; before it starts, what it waits for. */
export function phaseLook({ state, phase }: Phased): Look {
  if (phase.endsWith("predecessors")) return heldLook(phases.predecessors);
  return looks[phase.split(" ")[0] ?? ""] ?? lookOf(state);
}
