/** A scheduler task that has loaded the project's code and waits for the task before it to end: `waiting-scheduler serve`. */
import { once } from "node:events";
import { readConfig } from "../../stage/config.ts";
import { ownProject } from "../../stage/project.ts";
import { openRuntime } from "../../compose/runtime.ts";

const end = (): never => process.exit(0);
process.on("SIGINT", () => {});
process.on("SIGTERM", end);
process.on("disconnect", end);
const runtime = await openRuntime(readConfig(process.env, await ownProject()), { role: "scheduler" });
await runtime.checkDatabase();
await runtime.close();
process.send?.({ say: "ready" });
await once(process, "message");
process.off("SIGTERM", end);
process.off("disconnect", end);
process.disconnect();
await import("../../../scheduler-task/main.ts");
