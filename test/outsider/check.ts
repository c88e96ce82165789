import type { Target } from "./world.ts";

/** One sentence about what an outsider would report. */
export type Finding = string;

/** A target with one thing wrong, and what ends it. */
export interface Planted {
  readonly target: Target;
  close?(): Promise<void> | void;
}

export interface Check {
  readonly name: string;
  /** Why this machine cannot do it; null where it can. */
  missing?(): Promise<string | null>;
  run(target: Target): Promise<readonly Finding[]>;
  /** Each must be found: a check that finds nothing in a faulty target looks at nothing. */
  readonly faults: Readonly<Record<string, (target: Target) => Promise<Planted> | Planted>>;
}
