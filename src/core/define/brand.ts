/**
 * Two copies of Belfry in one process, as two packages of a workspace may install, must know each other's jobs, clients and
 * errors: `instanceof` and module state would not. The number changes when copies can no longer work together.
 */
const protocol = 1;

export const brandOf = (what: string): symbol => Symbol.for(`belfry.${what}@${protocol}`);

/** Attaches a value that is not listed, copied or printed. */
export function attach(target: object, brand: symbol, value: unknown): void {
  Object.defineProperty(target, brand, { value });
}

/** What was attached, by whichever copy. */
export const attached = (target: unknown, brand: symbol): unknown =>
  typeof target === "object" && target !== null ? (target as Record<symbol, unknown>)[brand] : undefined;

/** One value for all copies of a process. */
export function shared<T>(what: string): { get(): T | null; set(value: T | null): void } {
  const brand = brandOf(what);
  const place = globalThis as Record<symbol, unknown>;
  return {
    get: () => (place[brand] as T | null | undefined) ?? null,
    set: (value) => void (place[brand] = value),
  };
}
