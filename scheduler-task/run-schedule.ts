import { hostname } from "node:os";
import { readConfig } from "../src/stage/config.ts";
import { runSchedule } from "../src/schedule/run-schedule.ts";
import { ownProject } from "../src/stage/project.ts";
import { openRuntime } from "../src/compose/runtime.ts";
import { exitCodes, ownLane, print } from "./report.ts";

/** Takes the schedule's own lock and does the work of its time (`launch: "rule"`), with the connections of a worker. */
export async function runScheduleById(id: string, signal: AbortSignal): Promise<number> {
  const config = readConfig(process.env, await ownProject());
  const { onLockOutage, lockLeaseMs } = config;
  const runtime = await openRuntime(config, { role: "task", ...ownLane() });
  try {
    await runtime.checkDatabase();
    const owner = `${hostname()}:${process.pid}`;
    const stage = config.stage.name;
    const options = { id, owner, stage, onLockOutage, lockLeaseMs, signal };
    const report = await runSchedule(runtime.ports, runtime.registry, options);
    print("run-schedule", report, { schedule: id });
    if (report.outcome === "unknown") console.error(`there is no schedule "${id}"`);
    return report.jobs.some(({ state }) => state === "FAILED") ? exitCodes["job-failed"] : exitCodes[report.outcome];
  } finally {
    await runtime.close();
  }
}
