import { standIns as batchScheduler } from "./batch-scheduler/stand-ins/index.ts";
import { standIns as dagBatch } from "./dag-batch/stand-ins/index.ts";
import { standIns as dailyQuiz } from "./daily-quiz/stand-ins/index.ts";
import type { StandIn } from "./stand-in.ts";
import { standIns as taskflow } from "./taskflow/stand-ins/index.ts";
import { standIns as timeCapsule } from "./time-capsule/stand-ins/index.ts";

/** The outside targets of all examples; `stand-in.ts` says how they are started. */
export const standIns: readonly StandIn[] = [...batchScheduler, ...dailyQuiz, ...dagBatch, ...taskflow, ...timeCapsule];
