import { fakes as batchScheduler } from "./batch-scheduler/fakes/index.ts";
import { fakes as dagBatch } from "./dag-batch/fakes/index.ts";
import { fakes as dailyQuiz } from "./daily-quiz/fakes/index.ts";
import type { Fake } from "./fake.ts";
import { fakes as taskflow } from "./taskflow/fakes/index.ts";
import { fakes as timeCapsule } from "./time-capsule/fakes/index.ts";

/** The outside targets of all examples; `fake.ts` says how they are started. */
export const fakes: readonly Fake[] = [...batchScheduler, ...dailyQuiz, ...dagBatch, ...taskflow, ...timeCapsule];
