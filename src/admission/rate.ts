import { reasons } from "../machine/reasons.ts";
import { iso } from "../machine/units.ts";
import { piece } from "../machine/wait-texts.ts";
import { capGate } from "./cap.ts";
import type { UnitGate, Wait, WaitingView } from "./gate.ts";
import { countText } from "./slots.ts";

/** How many jobs start in a time. */
export interface Rate {
  /** Starts in any `perMs`, at most. */
  readonly limit: number;
  readonly perMs: number;
  /** Of these how many at one moment. */
  readonly burst: number;
  /** Null: all jobs of the kind together. */
  readonly key: ((payload: unknown) => string) | null;
}

const prefix = "rate";

/**
 * How long a start spends one of `burst` slots, in whole ms. With k = floor(limit / burst) and a window of at least per / k, an interval of
 * `per` is covered by k windows. The starts of a slot are a window apart, so each of the k has at most `burst` of them, and all at
 * most k * burst <= limit. Of the limit that is left unused: what burst does not divide, and the rounding up.
 */
export const windowMsOf = ({ limit, perMs, burst }: Omit<Rate, "key">): number =>
  Math.ceil(perMs / Math.floor(limit / burst));

/** At most `limit` jobs of a kind, or of a kind and a key, start in any `per`; the others wait in order. A start counts, whatever follows. */
export const rateGate = {
  form: "unit",
  name: "rate",
  prefix,
  groupOf: ({ id, rate: of }) =>
    of === null
      ? null
      : {
          key: `${prefix}:${id}${of.key === null ? "" : "#"}`,
          size: of.burst,
          windowMs: windowMsOf(of),
          onRefusal: "hold",
          reason: reasons.slot,
        },
  field: "rate",
  keyOf: ({ rate: of }, payload) => of?.key?.(payload) ?? "",
  refuses: capGate.refuses,
  waits: {
    cause: "rate",
    why({ job, facts, slot }: WaitingView): Wait | null {
      if (job.hold !== "slot" || job.heldOn === null || !isOfRate(job.heldOn)) return null;
      const { size, windowMs = null, nextAt = null } = slot ?? {};
      const limit = /^rate:@([^#]*)/.exec(job.heldOn)?.[1];
      const of = size === undefined || windowMs === null ? null : { size, seconds: windowMs / 1_000 };
      const rate =
        of === null ? [] : [limit === undefined ? piece("rate", of) : piece("rateOfLimit", { ...of, limit })];
      const when = nextAt === null ? piece("rateLater", {}) : piece("rateAt", { at: iso(nextAt) });
      return {
        pieces: [when, ...rate, piece("rateBefore", { before: countText(facts.heldBefore) })],
        until: nextAt,
      };
    },
  },
} as const satisfies UnitGate<{ readonly id: string; readonly rate: Rate | null }>;

/** Whether slots of this key are units of a rate. */
export const isOfRate = (key: string): boolean => key.startsWith(`${prefix}:`);
