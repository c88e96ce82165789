import { readConfig } from "./config.ts";
import { openRuntime } from "./runtime.ts";

/**
 * Makes `job.enqueue()` work in a process of your own, for example a web server. Reads the same environment as
 * Belfry's processes (`DATABASE_URL`, `BELFRY_STAGE`, AWS settings).
 * @throws ProblemsFound with every wrong setting and definition at once; DatabaseUnfit or DatabaseUnavailable when the
 * database cannot be used.
 */
export async function connect(environment: NodeJS.ProcessEnv = process.env): Promise<{ close(): Promise<void> }> {
  const runtime = await openRuntime(readConfig(environment), { role: "api" });
  try {
    await runtime.checkDatabase();
  } catch (error) {
    await runtime.close();
    throw error;
  }
  return { close: () => runtime.close() };
}
