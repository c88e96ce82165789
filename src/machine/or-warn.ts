import type { Log } from "./ports.ts";

/** Does what something later makes up for when it fails: a warning says so then. @returns what it answers; undefined when it fails. */
export async function orWarn<T>(
  log: Pick<Log, "warn">,
  work: () => Promise<T>,
  warning: string,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    log.warn(warning, { ...fields, error });
    return undefined;
  }
}
