import { batchScheduler } from "./batch-scheduler.ts";
import { dagBatch } from "./dag-batch.ts";
import { dailyQuiz } from "./daily-quiz.ts";
import type { Judge } from "./judge.ts";
import { taskflow } from "./taskflow.ts";
import { timeCapsule } from "./time-capsule.ts";

/** One for each example, in the order of the table. */
export const judges: readonly Judge[] = [batchScheduler, dailyQuiz, dagBatch, taskflow, timeCapsule];

/**
 * How time passes while the examples run on their small input. The quiz and the settlement come once a day: their next ones
 * are a few minutes after `startsAt`, in UTC.
 */
export const demoTime = { scale: 15, startsAt: "22:49" } as const;
