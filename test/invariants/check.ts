/**
 * The one judge of the simulation and of the fault cases on real processes: a pure function of what processes
 * were answered, what the tables hold in the end, and what outside targets wrote into their own ledgers.
 */
import { chained } from "./chained.ts";
import { deadLetters } from "./dead-letters.ts";
import { effects } from "./effects.ts";
import { ended, enqueued } from "./enqueued.ts";
import type { Evidence, Violation } from "./evidence.ts";
import { fencedAttempts } from "./fenced.ts";
import { flowControl } from "./flow-control.ts";
import { followedTimes } from "./followed-times.ts";
import { joined } from "./joined.ts";
import { fenceTokens } from "./locks.ts";
import { objectives } from "./objectives.ts";
import { signaled } from "./signaled.ts";
import { slots } from "./slots.ts";
import { nominalTimes, onlyLatest } from "./times.ts";

export type { Evidence, Violation } from "./evidence.ts";

/** @returns every broken promise; empty when all hold. C6 needs the queues and is `handedOff`. */
export function checkInvariants(evidence: Evidence): readonly Violation[] {
  return [
    ...enqueued(evidence),
    ...ended(evidence),
    ...chained(evidence),
    ...fencedAttempts(evidence),
    ...effects(evidence),
    ...nominalTimes(evidence),
    ...onlyLatest(evidence),
    ...followedTimes(evidence),
    ...fenceTokens(evidence),
    ...deadLetters(evidence),
    ...slots(evidence),
    ...joined(evidence),
    ...flowControl(evidence),
    ...objectives(evidence),
    ...signaled(evidence),
  ];
}
