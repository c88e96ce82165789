/** How jobs of one kind and key wait for each other, to be one call of `runBatch`. */
export interface Batched {
  readonly key: string;
  readonly max: number;
  readonly waitMs: number;
}

/** The same for all jobs of a kind, as its definition says it. */
export interface BatchRule extends Omit<Batched, "key"> {
  readonly key: (payload: unknown) => string;
}

export interface BatchOf extends Batched {
  readonly kind: string;
}
