import { toStringMethod } from "fast-check";
import type { Pair } from "./pair.ts";

/** One step of a random sequence; the numbers in it pick among what exists when it runs. */
export interface Step {
  readonly run: (pair: Pair) => Promise<void>;
  readonly [toStringMethod]: () => string;
}

export const step = (text: string, run: Step["run"]): Step => ({ run, [toStringMethod]: () => text });
