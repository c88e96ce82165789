import { vi } from "vitest";

/** Until the expectations hold. The bound is for what hangs: a busy machine must not fail a test. */
export const soon = <T>(expected: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(expected, { timeout: 45_000, interval: 20 });
