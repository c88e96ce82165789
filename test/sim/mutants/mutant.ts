import type { Store } from "../../../src/machine/store.ts";
import type { ReferenceStore } from "../../support/reference-store.ts";
import type { Layer } from "../store.ts";
import type { Planted, World } from "../world.ts";

/** One planted bug. It wraps a port; the core itself stays as it is. */
export interface Mutant {
  readonly name: string;
  /** What is wrong, as a reviewer would write it. */
  readonly bug: string;
  /** Self-healing that would hide the bug, switched off. Left out: none. */
  readonly without?: readonly Layer[];
  readonly planted: Partial<Planted>;
}

/** A bug in the store: the methods it changes, all others as they are. */
export const inStore = (change: (base: ReferenceStore, world: World) => Partial<Store>): Partial<Planted> => ({
  store: (base, world) => ({ ...base, ...change(base, world) }),
});

/** Tables that are wrong before each call of a method. */
export const wrongBefore = (
  method: "insert" | "claim" | "gather" | "resolve",
  change: (tables: ReferenceStore["tables"]) => void,
): Partial<Planted> =>
  inStore((base) => {
    const call = base[method] as (...given: readonly unknown[]) => unknown;
    const changed = (...given: readonly unknown[]): unknown => {
      place(base, change);
      return call(...given);
    };
    return { [method]: changed };
  });

/** Changes tables outside any statement: there is nothing to undo. */
export function place(base: ReferenceStore, change: (tables: ReferenceStore["tables"]) => void): void {
  change(base.tables);
  base.tables.journal.length = 0;
}
