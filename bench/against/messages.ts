/** What one measured stretch of work cost, a job. */
export interface Sample {
  readonly perSecond: number;
  /** Microseconds of the backends; 0 where Linux does not tell. */
  readonly cpuUs: number;
  readonly walBytes: number;
  /** Statements that the process sent. */
  readonly statements: number;
}

export const quantities = ["perSecond", "cpuUs", "walBytes", "statements"] as const satisfies readonly (keyof Sample)[];

/** The figures of one series of a case, a sample for each round that counts. */
export interface Series {
  readonly name: string;
  readonly product: readonly Sample[];
  /** Empty where the case has no roof, or the side was not asked for it. */
  readonly roof: readonly Sample[];
}

export interface Report {
  readonly series: readonly Series[];
  /** Of the updates of `belfry.job` in the whole case, the share that wrote no index entry. */
  readonly heapOnly: number;
}

/** A side waits for its turn before each stretch, and says at the end what it saw. The parent answers a wait with "go". */
export type FromSide = { readonly waitsFor: "product" | "roof" } | { readonly report: Report };

/** What a side is started with, as JSON in its first argument. */
export interface SideOptions {
  /** The checkout whose case runs. */
  readonly root: string;
  readonly name: string;
  readonly server: string;
  /** Leads the names of its databases. */
  readonly prefix: string;
  readonly withRoof: boolean;
}
