import batchScheduler from "./batch-scheduler/app.ts";

/** The apps of the examples. Importing this file starts nothing and opens nothing. */
export default [batchScheduler];
