import { z } from "zod";
import { idText } from "../../insight/atoms.ts";
import { mappedTasks } from "../../insight/run-map.ts";
import { run, task } from "../../insight/runs.ts";

export const runList = z.object({ runs: z.array(run), nextCursor: idText.nullable() }).meta({ id: "RunList" });

export const runMap = mappedTasks
  .extend({
    run,
    /** The first that FAILED, with their errors. */
    failed: z.array(task),
  })
  .meta({ id: "RunMap" });

export const taskList = z
  .object({
    tasks: z.array(task),
    nextCursor: idText.nullable(),
  })
  .meta({ id: "TaskList" });

/** What became of a signal. `isFirst`: false for one that had come before with the same payload. */
export const signalReply = z.object({ job: idText, isFirst: z.boolean() }).meta({ id: "SignaledRun" });

export type RunReply = z.infer<typeof run>;
export type TaskReply = z.infer<typeof task>;
export type RunMapReply = z.infer<typeof runMap>;
export type TaskListReply = z.infer<typeof taskList>;
