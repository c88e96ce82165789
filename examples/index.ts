import batchScheduler from "./batch-scheduler/app.ts";
import dagBatch from "./dag-batch/app.ts";
import dailyQuiz from "./daily-quiz/app.ts";
import taskflow from "./taskflow/app.ts";
import timeCapsule from "./time-capsule/app.ts";

/** The apps of the examples. Importing this file starts nothing and opens nothing. */
export default [batchScheduler, dailyQuiz, dagBatch, taskflow, timeCapsule];
