import type { Clock } from "../machine/ports.ts";

export interface RateLimiter {
  /** Resolves when it is the caller's turn; false, at once, when too many wait already. */
  acquire(): Promise<boolean>;
}

/** Lets callers through one after another, `intervalMs` apart. */
export function createRateLimiter(
  clock: Clock,
  { intervalMs, waitingMax }: { intervalMs: number; waitingMax: number },
): RateLimiter {
  let nextMs = clock.elapsedMs();
  return {
    async acquire() {
      const nowMs = clock.elapsedMs();
      const waitMs = Math.max(0, nextMs - nowMs);
      if (waitMs > intervalMs * waitingMax) return false;
      nextMs = nowMs + waitMs + intervalMs;
      if (waitMs > 0) await clock.sleep(waitMs);
      return true;
    },
  };
}
