import type { Check } from "../demo/judge.ts";
import type { RunningSystem } from "./running.ts";

/** What a person may change. */
export interface Settings {
  /** Requests a second. */
  readonly rate: number;
  readonly seconds: number;
  say(text: string): void;
}

/** One claim of an author, shown on a system that runs. */
export interface Experiment {
  readonly name: string;
  /** The author's question, for `--help`. */
  readonly about: string;
  /** The case of `npm run proof` that shows the same with its guard taken out. */
  readonly proof: string;
  /** Tables for people, beside the checks. */
  run(system: RunningSystem, settings: Settings): Promise<readonly Check[]>;
}

/** Differs from run to run, so that an experiment can be repeated on the same system. */
export const newTag = (): string => Date.now().toString(36);
