import { readConfig } from "./config.ts";
import { openRuntime } from "./runtime.ts";

/**
 * Makes `job.enqueue()` work in a process of your own, for example a web server. Reads the same environment as
 * Belfry's processes (`DATABASE_URL`, `BELFRY_STAGE`, AWS settings).
 * @throws ProblemsFound with every wrong setting and definition at once.
 */
export async function connect(environment: NodeJS.ProcessEnv = process.env): Promise<{ close(): Promise<void> }> {
  const runtime = await openRuntime(readConfig(environment), { role: "api" });
  return { close: () => runtime.close() };
}
