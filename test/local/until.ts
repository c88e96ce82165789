import { until as look } from "../proof/until.ts";

/** The same for tests, with a bound for what hangs. */
export const until = <T>(
  what: string,
  condition: () => T | Promise<T>,
  withinMs = 45_000,
): ReturnType<typeof look<T>> => look(what, withinMs, condition);
