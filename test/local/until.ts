import { performance } from "node:perf_hooks";

const lookMs = 20;

/**
 * Looks until the condition holds. For processes and servers of this machine, whose time cannot be set.
 * @throws Error that says what was waited for.
 */
export function until<T>(what: string, condition: () => T | Promise<T>, withinMs = 45_000): Promise<NonNullable<T>> {
  const startedMs = performance.now();
  return new Promise((resolve, reject) => {
    let isLooking = false;
    const timer = setInterval(() => {
      if (isLooking) return;
      isLooking = true;
      void look().finally(() => (isLooking = false));
    }, lookMs);
    const end = (settle: () => void): void => {
      clearInterval(timer);
      settle();
    };
    const look = async (): Promise<void> => {
      try {
        const answer = await condition();
        if (answer !== null && answer !== undefined && answer !== false) end(() => resolve(answer));
        else if (performance.now() - startedMs > withinMs)
          end(() => reject(new Error(`waited ${withinMs} ms for ${what}`)));
      } catch (error) {
        end(() => reject(error));
      }
    };
  });
}
