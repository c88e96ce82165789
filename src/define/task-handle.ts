/** What a graph knows of its tasks by their types. */
import type { JoinRule } from "../machine/join.ts";
import type { FailurePolicy } from "../machine/run.ts";

declare const output: unique symbol;
declare const maybe: unique symbol;

/** A declared task, which a later task names as its predecessor. `M`: its branch may not be taken. */
export interface TaskHandle<O, M extends boolean = boolean> {
  readonly name: string;
  readonly [output]: O;
  readonly [maybe]: M;
}

/** The tasks before one, each under the name by which it finds their output. */
export type TasksBefore = Readonly<Record<string, TaskHandle<unknown>>>;
type OutputOf<H> = H extends TaskHandle<infer O> ? O : never;
type MaybeOf<H> = H extends TaskHandle<unknown, infer M> ? M : never;
type IsOne<K, All = K> = [K] extends [never] ? false : K extends unknown ? ([All] extends [K] ? true : false) : never;

/**
 * What a task gets from its predecessors. Under `all` it is there, unless that branch may not be taken and another one was;
 * under any other rule, and where failures are passed over, it may be missing.
 */
export type TaskOutputs<A extends TasksBefore, J extends JoinRule, F extends FailurePolicy> = {
  readonly [K in keyof A]: [J, F] extends ["all", "stop" | "skip-downstream"]
    ? true extends MaybeOf<A[K]>
      ? IsOne<keyof A> extends true
        ? OutputOf<A[K]>
        : OutputOf<A[K]> | undefined
      : OutputOf<A[K]>
    : OutputOf<A[K]> | undefined;
};

/** Not taken when none of its predecessors was; `allDone` always runs. */
export type MaybeAfter<A extends TasksBefore, J extends JoinRule> = J extends "allDone"
  ? false
  : [keyof A] extends [never]
    ? false
    : false extends MaybeOf<A[keyof A]>
      ? false
      : true;

/** What a task is called with: the run's input and, by name, what its predecessors returned. */
export type TaskInputs<I, A extends TasksBefore, J extends JoinRule, F extends FailurePolicy> = {
  readonly input: I;
} & TaskOutputs<A, J, F>;

// oxlint-disable-next-line typescript/no-generated-empty-object-type -- no predecessors is exactly that: no keys.
export type NoneBefore = Readonly<Record<never, never>>;
