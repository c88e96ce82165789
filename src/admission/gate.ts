import type { Instant, JobId, JobView, SlotGroup } from "../machine/job.ts";
import type { Reason } from "../machine/reasons.ts";
import type { Overlap } from "../machine/schedule.ts";
import type { WaitPiece } from "../machine/wait-texts.ts";
import type { WaitingFacts } from "../machine/waiting.ts";

/** What people read about a reason beside its text (`reasonTexts`), as such a clause. */
export interface ReasonWords {
  /** Of a job whose later attempt met it. Default: the text. */
  readonly later?: string;
  /** Of a nominal time that was skipped for it. Default: the text, with the advice to run it again. */
  readonly time?: (time: TimeView) => readonly [why: string, advice: string];
}

/** A skipped nominal time, in words that a gate may use. */
export interface TimeView {
  /** The job that was in the way, by its time or kind; `otherwise` when it is not known any more. */
  readonly holder: (otherwise: string) => string;
  readonly holderNoun: "job" | "run";
  /** The rule of the version that it belongs to, where that is known. */
  readonly overlap: Overlap | undefined;
  /** The calendar that excluded its day, and why. */
  readonly calendar: string;
  /** When it was over. */
  readonly deadline: string;
  /** Of a chain: what became of the time that it follows. */
  readonly followed: string;
  /** How to run it now. */
  readonly again: string;
}

/** Who holds the slots of the group that it waits for. */
export interface SlotHolders {
  readonly key: string;
  readonly size: number;
  readonly taken: number;
  readonly holders: readonly { readonly job: string }[];
  /** Of a rate: its window, and when the unit of this job comes. */
  readonly windowMs?: number | null;
  readonly nextAt?: Instant | null;
}

export interface WaitingView {
  readonly job: JobView;
  readonly facts: WaitingFacts;
  readonly slot: SlotHolders | null;
  readonly now: Instant;
}

/** Why a job does not start yet. */
export interface Wait {
  readonly pieces: readonly WaitPiece[];
  readonly advice?: string | null;
  /** When it goes on, where that is known. */
  readonly until?: Instant | null;
  readonly waitsFor?: readonly JobId[];
}

interface Explainable<W extends ReasonWords> {
  readonly name: string;
  /** Its reasons; of several that hold, the first counts. */
  readonly refuses: Readonly<Partial<Record<Reason, W>>>;
  /** Of a job that is not refused for good. `cause`: stable, for programs. `why`: null where the gate does not keep this job. */
  readonly waits?: { readonly cause: string; readonly why: (view: WaitingView) => Wait | null };
}

interface RefusalByRow extends ReasonWords {
  /** A condition in SQL. */
  readonly when: string;
}

/**
 * Looks at joined rows and takes nothing: in `claim-full` m, the job, r, its run, and s, its schedule. A job that it refuses is
 * SKIPPED. Jobs without slots, schedule and expiry are claimed without it (`claim`), of a run that is open.
 */
export interface StateGate extends Explainable<
  RefusalByRow & {
    /** The job is CANCELED instead; SQL that answers by whom. */
    readonly canceledBy?: string;
  }
> {
  readonly form: "state";
}

/**
 * Closes lanes and kinds: it looks at l, a row of `belfry.lane`; a name without one is open. A worker looks once a second, and holds
 * what arrives of a closed one under its name; the upkeep releases it when no gate closes that any more.
 */
export interface ClosingGate extends Explainable<RefusalByRow> {
  readonly form: "lane";
  /** SQL that answers when l opens, null or a time past where this gate does not close it: of two rows that close a job, the one that still does when it is due is named. */
  readonly ends: string;
}

/** Hands out units of keys that stand in `job.slot_keys`: rows of `belfry.slot` (`slots.ts`). `D` has the gate's setting. */
export interface UnitGate<D> extends Explainable<ReasonWords> {
  readonly form: "unit";
  /** Of its keys: `PREFIX:NAME`. */
  readonly prefix: string;
  /** Null: the definition does not ask for it. */
  readonly groupOf: (of: D) => SlotGroup | null;
  /** What follows the key of a group by key (`isByKey`) in the key of a job: computed once, when it is made. */
  readonly keyOf?: (of: D, payload: unknown) => string;
  /** The field of the definition whose `key` that is. */
  readonly field?: string;
}

/** Is decided by code before the claim. */
export interface CodeGate extends Explainable<ReasonWords> {
  readonly form: "code";
}

export type AdmissionGate = StateGate | ClosingGate | UnitGate<never> | CodeGate;
