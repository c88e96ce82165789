import { zones } from "./quiz.ts";

/**
 * The example's input, and how the outside treats each user: one place, so that the seed, the fakes and the judge of
 * a run agree. Plain arithmetic on the number of the user: the same on every machine.
 */
export type Treatment =
  "delivered" | "gone" | "busy once" | "busy twice" | "always busy" | "throttled once" | "hangs once" | "answer lost";

/** What the push service wrote down of a call. `repeated`: the same key again. `lost`: taken, and its answer did not get through. */
export type Answer = "sent" | "repeated" | "lost" | "gone" | "busy" | "throttled" | "hung";

/** A line of its ledger. */
export interface Call {
  readonly key: string;
  readonly user: number;
  readonly day: string;
  readonly outcome: Answer;
}

export const usersDefault = 320;
export const triesMax = 4;

/** Shifted with each hundred, so that each zone has users of every treatment. */
export const zoneOf = (user: number): (typeof zones)[number] =>
  (user + Math.floor(user / 100)) % 5 < 3 ? zones[0] : zones[1];

/** Has switched notifications off long ago. */
export const neverSubscribed = (user: number): boolean => user % 16 === 5;

/** Switches notifications off between the writing of the targets and the quiz. */
export const leaves = (user: number): boolean => !neverSubscribed(user) && user % 97 === 13;

const transient: readonly Treatment[] = [
  "always busy",
  "throttled once",
  "hangs once",
  "answer lost",
  "busy twice",
  "busy twice",
];

/** How the push service is: takes everybody; refuses a tenth once with 503, and fails in no other way; or fails in every way. */
export type Mood = "calm" | "refuses" | "mixed";

/** `mixed`: 2 % fail for good and 10 % for a while, a tenth of them for ever. */
export function treatmentOf(user: number, { mood }: { mood: Mood }): Treatment {
  if (mood === "calm") return "delivered";
  if (mood === "refuses") return user % 10 === 3 ? "busy once" : "delivered";
  if (user % 50 === 7) return "gone";
  if (user % 10 === 3) return transient[Math.floor(user / 10) % 10] ?? "busy once";
  return "delivered";
}
