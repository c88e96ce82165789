import { readConfig } from "../src/stage/config.ts";
import { createTaskWatch } from "../src/run/task-watch.ts";
import { ownProject } from "../src/stage/project.ts";
import { openRuntime } from "../src/compose/runtime.ts";

const config = readConfig(process.env, await ownProject());
const runtime = await openRuntime(config, { role: "ecs-events" });
await runtime.checkDatabase({ patient: true });
const watch = createTaskWatch(runtime.ports, runtime.registry);

process.once("SIGTERM", () => void runtime.close().finally(() => process.exit(0)));

/** One "ECS Task State Change" of EventBridge. A throw has it delivered again. */
export async function handler(event: unknown): Promise<void> {
  try {
    await watch.notice(event);
  } finally {
    runtime.ports.metrics.flush();
  }
}
