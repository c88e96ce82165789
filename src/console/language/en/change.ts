import { closableText } from "../../../machine/closable-texts.ts";
import { numberText } from "../number.ts";
import type { Part, Sentence } from "../part.ts";
import { plural } from "./shared.ts";

export const enChange = {
  /** A payload as it is written by hand. */
  payload: {
    none: "This kind takes no payload.",
    noJson: "The payload is not JSON: check quotes and commas.",
    wrong: (fields: string) => `Not a value: ${fields}`,
    asJson: "Write it as JSON",
  },
  /** A new job. */
  enqueue: {
    open: "Enqueue a job",
    keyHint: "A second job with the same key is not made.",
    delay: "Delay",
    delayHint: "10m, 2h; empty: now",
    done: (job: string) => `${job}: enqueued`,
    existed: (job: string) => `${job} has this key already; nothing was enqueued`,
    joined: (job: string) => `${job} waits already; this call joined it`,
    copyTitle: (kind: string) => `New ${kind} with another payload`,
    copyText: (id: string) => `Job ${id} stays as it is. The key of the new one names it.`,
  },
  /** How many jobs of a kind run at once. */
  caps: {
    open: (kind: string) => `Change the cap of ${kind}`,
    change: "Change",
    action: "Change the cap",
    size: "Jobs at once",
    hint: "It holds until the next release brings its own number.",
    changed: (kind: string, size: string) => `${kind}: at most ${size} at once`,
  },
  /** Said with a pause. */
  pause: {
    named: { "/lanes/:name": closableText, "/schedules/:id": (id: string) => id },
    toggle: (isPaused: boolean, name: string) => `${isPaused ? "Resume" : "Pause"} ${name}`,
    question: (name: string) => `Pause ${name}?`,
    goesOn: (name: string) => `${name} goes on`,
    isPaused: (name: string) => `${name} is paused`,
    until: "Until",
    untilHint: "2h, 6:00 or 2026-11-23T06:00 by your clock; empty: until it is resumed",
    reason: "Reason",
    reasonHint: "It stands beside the pause.",
    lasts: (end: Part): Sentence => ["until ", end],
  },
  /** Retrying dead letters. */
  redrive: {
    groups: (count: number) => plural(count, "group"),
    mark: (kind: string, code: string) => `Mark ${kind}, ${code}`,
    markAll: "Mark all groups",
    causes: "Causes",
    pace: "Pace",
    paceHint: "50/s, or 10s between two; empty: without a pause",
    atOnce: "All at once",
    atOnceHint: "Not one of each group first, then 10, then the rest, stopping when they fail again.",
    samples: (count: number) => (count === 1 ? "A sample" : `${count} samples`),
    cameTo: (retried: number, failed: number) => `${numberText(retried)} retried: ${numberText(failed)} failed again`,
    unknown: "What came of the retry is not known",
    stopped: (changed: number, { failed, code }: { readonly failed: number; readonly code: string | null }) =>
      `Stopped after ${changed}: ${failed} failed again with ${code}. Look at these, repair, and retry the rest`,
  },
};
