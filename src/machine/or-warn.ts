import type { Log } from "./ports.ts";

/** Does work whose failure stops nothing: a warning says what is missing then. @returns its result; undefined when it fails. */
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
