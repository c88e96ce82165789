import { backfillGate } from "./backfill.ts";
import { blackoutGate } from "./blackout.ts";
import { capByKeyGate } from "./cap-by-key.ts";
import { capGate } from "./cap.ts";
import { catchUpGate } from "./catch-up.ts";
import { circuitGate } from "./circuit.ts";
import { conditionGate } from "./condition.ts";
import { expiryGate } from "./expiry.ts";
import type { AdmissionGate, ClosingGate, ReasonWords, StateGate, Wait, WaitingView } from "./gate.ts";
import { kindName } from "../machine/closable-texts.ts";
import { lanePauseGate } from "./lane-pause.ts";
import { lockGate } from "./lock.ts";
import { overlapGate } from "./overlap.ts";
import { rateGate } from "./rate.ts";
import { runEndGate } from "./run-end.ts";
import { scheduleGate } from "./schedule.ts";
import { turnGate } from "./turn.ts";

/** Every gate, by rank: of several that keep a job, the first decides and is named. */
const list = [
  conditionGate,
  runEndGate,
  expiryGate,
  scheduleGate,
  capByKeyGate,
  capGate,
  rateGate,
  lockGate,
  catchUpGate,
  backfillGate,
  overlapGate,
  circuitGate,
  lanePauseGate,
  blackoutGate,
  turnGate,
] as const;

type Each = (typeof list)[number];
type ReasonOf<G> = G extends { readonly refuses: infer R } ? keyof R : never;
type CauseOf<G> = G extends { readonly waits: { readonly cause: infer C } } ? C : never;

export type GateReason = ReasonOf<Each>;
export type GateCause = CauseOf<Each>;

export const gates: readonly AdmissionGate[] = list;

export const gateWords = Object.fromEntries(gates.flatMap(({ refuses }) => Object.entries(refuses))) as Readonly<
  Record<GateReason, ReasonWords>
>;
export const gateCauses = [...new Set(gates.flatMap(({ waits }) => waits?.cause ?? []))] as readonly GateCause[];

/** What keeps a job that has not started; null where no gate does. A lane gate is asked about a lane that it closes. */
export function waitOf(view: WaitingView): (Wait & { readonly cause: GateCause }) | null {
  for (const gate of list) {
    if (!("waits" in gate) || (gate.form === "lane" && !((view.facts.laneRefusal ?? "") in gate.refuses))) continue;
    const wait = gate.waits.why(view);
    if (wait !== null) return { ...wait, cause: gate.waits.cause };
  }
  return null;
}

/** The prefix of the keys whose unit a job that was refused for this reason lacked; null where no unit gate has the reason. */
export const unitPrefixOf = (reason: string): string | null =>
  list.flatMap((gate) => (gate.form === "unit" && reason in gate.refuses ? `${gate.prefix}:` : []))[0] ?? null;

const stateGates = list.filter((gate): gate is Extract<Each, StateGate> => gate.form === "state");
const laneGates = list.filter((gate): gate is Extract<Each, ClosingGate> => gate.form === "lane");

/** The first reason whose condition holds, or null. */
const verdictOf = (of: readonly Pick<StateGate | ClosingGate, "refuses">[]): string =>
  `case ${of.flatMap(({ refuses }) => Object.entries(refuses).map(([reason, { when }]) => `when ${when} then '${reason}'`)).join("\n      ")} end`;

/** Why job m, of run r and schedule s, must not start; or null. */
export const stateVerdict = verdictOf(stateGates);
/** Why lane l is closed, or null. */
export const laneVerdict = verdictOf(laneGates);
const laneEnd = `greatest(${laneGates.map(({ ends }) => ends).join(", ")})`;
/** The row l that closes job j: one that does so still when it is due, of its lane before that of its kind. Those columns, and why as `refusal`. */
export const closedOf = (columns: string): string => `
  select ${columns}, ${laneVerdict} as refusal from belfry.lane l
  where l.name in (j.lane, '${kindName("")}' || j.kind) and ${laneVerdict} is not null 
  order by ${laneEnd} <= j.due_at, l.name <> j.lane limit 1`;

const cancels = stateGates
  .flatMap(({ refuses }) => Object.entries(refuses))
  .flatMap(([reason, refusal]) => ("canceledBy" in refusal ? [{ reason, ...refusal }] : []));
/** Verdicts that cancel the job, as a list in SQL; and by whom. */
export const cancelVerdicts = cancels.map(({ reason }) => `'${reason}'`).join(", ");
export const cancelCaller = `case ${cancels.map(({ when, canceledBy: by }) => `when ${when} then ${by}`).join(" ")} end`;

/**
 * The unit gates that a job definition asks for, and those of a schedule. A job waits for the first that it lacks: for its key before
 * the total, so that a flood of one key stands in no other key's way; for a place before a unit of a rate, which is lost by waiting.
 */
export const jobGates = [capByKeyGate, capGate, rateGate, lockGate] as const;
export const scheduleGates = [overlapGate, catchUpGate] as const;
