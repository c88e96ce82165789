import { twoAtOnce } from "./batch-scheduler.ts";
import { workerDies } from "./daily-quiz.ts";
import type { Experiment } from "./experiment.ts";
import { load } from "./load.ts";
import { newVersion } from "./new-version.ts";
import { mix, sameKey, workersKilled } from "./taskflow.ts";
import { mailHangs } from "./time-capsule.ts";

/** In the order in which they run. */
export const catalog: readonly Experiment[] = [
  twoAtOnce,
  sameKey,
  mix,
  workersKilled,
  workerDies,
  newVersion,
  mailHangs,
  load,
];
