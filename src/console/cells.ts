import { signal } from "@preact/signals";

/** A cell behind this address that does not answer: what the page shows lacks its rows. */
export interface MissingCell {
  readonly cell: string;
  readonly since: string;
}

/** As the newest answer of all cells says; empty where this address is of one stage. */
export const cellsAway = signal<readonly MissingCell[]>([]);

/** Looks whether an answer is of all cells. */
export function noteCells(body: unknown): void {
  const { cellsAway: away } = (body ?? {}) as { readonly cellsAway?: readonly MissingCell[] };
  if (away === undefined || JSON.stringify(away) === JSON.stringify(cellsAway.value)) return;
  cellsAway.value = away;
}
