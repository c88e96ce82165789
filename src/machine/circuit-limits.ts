export const circuitLimits = {
  /** What a worker knows of open circuits may be so old. */
  circuitLookMs: 1_000,
  /** How long a worker gathers ends before it writes them. */
  circuitCountMs: 500,
  /** Held jobs that a pass releases of a closed circuit, at most: it begins with 10 and doubles. */
  circuitPageMax: 1_000,
  /** Retries a minute that a budget lets go at least. */
  retriesFloor: 10,
} as const;
