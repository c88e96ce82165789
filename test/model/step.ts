import { toStringMethod } from "fast-check";
import type { MovedRows } from "../../src/core/ports/ports.ts";
import type { Pair } from "./pair.ts";

/** One step of a random sequence; the numbers in it pick among what exists when it runs. */
export interface Step {
  readonly run: (pair: Pair) => Promise<void>;
  readonly [toStringMethod]: () => string;
}

export const step = (text: string, run: Step["run"]): Step => ({ run, [toStringMethod]: () => text });

/** Postgres reads the input of a task's run only for a hook, so the payload of a task is not compared. */
export const movedRows = ({ rows, aftermath }: MovedRows) => ({
  rows: rows.map(({ payload: _payload, ...row }) => row),
  aftermath,
});
