import { toStringMethod } from "fast-check";
import type { MovedRows } from "../../src/machine/transaction.ts";
import type { Pair } from "./pair.ts";

/** One step of a random sequence; the numbers in it pick among what exists when it runs. */
export interface Step {
  readonly run: (pair: Pair) => Promise<void>;
  /** Rows that another call holds are left for the next time. */
  readonly passesBy: boolean;
  readonly [toStringMethod]: () => string;
}

export const step = (text: string, run: Step["run"]): Step => ({
  run,
  passesBy: false,
  [toStringMethod]: () => text,
});

/** A step of a pass, which leaves rows that another call holds to the next pass. */
export const passStep = (text: string, run: Step["run"]): Step => ({ ...step(text, run), passesBy: true });

/** Postgres reads the input of a task's run only for a hook, so the payload of a task is not compared. */
export const movedRows = ({ rows, aftermath }: MovedRows) => ({
  rows: rows.map(({ payload: _payload, ...row }) => row),
  aftermath,
});
