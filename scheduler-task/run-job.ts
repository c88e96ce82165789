import type { AttemptRef } from "../src/machine/job.ts";
import { hostname } from "node:os";
import { ownTask } from "../src/aws/task-launcher.ts";
import { readConfig } from "../src/stage/config.ts";
import { taskWorker } from "../src/machine/launcher.ts";
import { runJobTask } from "../src/run/run-job.ts";
import { ownProject } from "../src/stage/project.ts";
import { keepWhileStopped } from "../src/compose/debugged.ts";
import { openRuntime } from "../src/compose/runtime.ts";
import { exitCodes, ownLane, print } from "./report.ts";

/** Runs one attempt, which a worker claimed and launched this task for (`runOn: "fargate"`). */
export async function runTry(task: AttemptRef & { readonly from: string }, signal: AbortSignal): Promise<number> {
  const config = readConfig(process.env, await ownProject());
  const runtime = await openRuntime(config, { role: "task", ...ownLane() });
  try {
    const own = (await ownTask(process.env))?.id ?? hostname();
    const worker = taskWorker(own, `${process.pid}:${runtime.ports.random.id().slice(0, 8)}`);
    keepWhileStopped(config.databaseUrl, worker);
    const { stage } = config;
    const options = { ...task, worker, stage: stage.name, signal };
    const report = await runJobTask(runtime.ports, runtime.registry, options);
    print("run-job", report, { job: task.jobId, attempt: task.attempt });
    if (report.outcome === "unknown") return exitCodes.failure;
    return report.outcome === "done" && report.state === "FAILED" ? exitCodes["job-failed"] : exitCodes[report.outcome];
  } finally {
    await runtime.close();
  }
}
