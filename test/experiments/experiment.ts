import type { Check } from "../demo/judge.ts";
import type { RunningSystem } from "./running.ts";

/** What a person may change. */
export interface Settings {
  /** Requests a second. */
  readonly rate: number;
  readonly seconds: number;
  /** Requests that have no answer yet: a client has so many connections at most. */
  readonly inFlight: number;
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

/** @returns what the API answers. @throws Error where it refuses. */
export async function post(url: string, body: object): Promise<{ readonly id: string }> {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  if (answer.ok) return (await answer.json()) as { id: string };
  throw new Error(`POST ${url} answered ${answer.status}: ${await answer.text()}`);
}

/** The keys that a ledger has more than once. */
export const repeated = (lines: readonly { readonly key: string }[]): readonly string[] =>
  [...Map.groupBy(lines, ({ key }) => key)].filter(([, all]) => all.length > 1).map(([key]) => key);
