import type { Experiment } from "./experiment.ts";
import { load } from "./load.ts";

/** In the order in which they run. */
export const catalog: readonly Experiment[] = [load];
