import type { Instant } from "../machine/job.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { madeOnce } from "../machine/made-once.ts";
import { editDistance } from "./edit-distance.ts";
import { scheduleLimits } from "../machine/schedule.ts";

/** A change of a zone's UTC offset. `after > before` is a gap in local time, `after < before` an overlap. */
export interface ZoneTransition {
  readonly at: Instant;
  /** Milliseconds that local time is ahead of UTC. */
  readonly before: number;
  readonly after: number;
}

/** UTC offsets of one IANA zone, from the runtime's tz data. Deterministic: it depends on that data and nothing else. */
export interface Zone {
  readonly name: string;
  offsetAt(instant: Instant): number;
  /** All changes in `(after, until]`, in order. */
  transitions(after: Instant, until: Instant): readonly ZoneTransition[];
}

/** Version of the tz data of this runtime, for example `2026c`; grows in text order. A constant of the process. */
export const tzVersion: string = process.versions.tz ?? "";

/** Version of the tz data of the Node in the Dockerfile, which schedulers run on. */
export const imageTzVersion = "2026c";

/**
 * The version that is stored with a schedule; a scheduler with older data does not plan it. Lambda's Node stores schedules too
 * and AWS updates it without a deploy: its newer version would keep the scheduler's image from every schedule.
 */
export const storedTzVersion = (own: string): string => (own < imageTzVersion ? own : imageTzVersion);

/** @returns null when the zone exists, else what is wrong and what to write. */
export function zoneProblem(name: string): string | null {
  if (isZone(name)) return null;
  const shown = name.slice(0, contractLimits.idCharactersMax);
  if (/^(?:UTC|GMT)?[+-]\d/.test(name)) {
    return `timezone "${shown}": is an offset, which has no clock changes: write an IANA name such as Asia/Seoul or UTC`;
  }
  const near = similarZone(shown);
  return `timezone "${shown}": is not an IANA time zone${near === null ? "; write a name such as Asia/Seoul or UTC" : `; did you mean ${near}?`}`;
}

const opened = new Map<string, Zone>();

/** @throws RangeError with `zoneProblem`'s text. Zones are kept: there are only some hundred names. */
export function openZone(name: string): Zone {
  return madeOnce(opened, name, () => {
    const problem = zoneProblem(name);
    if (problem !== null) throw new RangeError(problem);
    return name === "UTC" ? utc : chunkedZone(name);
  });
}

const utc: Zone = { name: "UTC", offsetAt: () => 0, transitions: () => [] };

/** A part of a zone's offsets. 2^33 ms are 99 days. */
interface Chunk {
  readonly offset: number;
  readonly transitions: readonly ZoneTransition[];
}

const chunkMs = 2 ** 33;
/**
 * The zone is sampled every 3.1 days, and a change is then found by bisection. Two closer changes that cancel out would be
 * missed; the tz data has none (the proof `zones` samples every six hours).
 */
const stepMs = chunkMs / 32;

/** A call of Intl costs about a microsecond, so each chunk is computed once (about 30 calls) and cached. */
function chunkedZone(name: string): Zone {
  const ask = asker(name);
  const chunks = new Map<number, Chunk>();
  const chunk = (index: number): Chunk =>
    madeOnce(chunks, index, () => sample(ask, index * chunkMs), scheduleLimits.zoneChunksMax);
  return {
    name,
    offsetAt(instant) {
      const { offset, transitions } = chunk(Math.floor(instant / chunkMs));
      return transitions.findLast((transition) => transition.at <= instant)?.after ?? offset;
    },
    transitions(after, until) {
      const found: ZoneTransition[] = [];
      for (let index = Math.floor(after / chunkMs); index * chunkMs < until; index++) {
        for (const each of chunk(index).transitions) if (each.at > after && each.at <= until) found.push(each);
      }
      return found;
    },
  };
}

/** Offset at the chunk's first instant, and the changes in `(start, start + chunkMs]`. */
function sample(ask: (instant: Instant) => number, start: Instant): Chunk {
  const transitions: ZoneTransition[] = [];
  const offset = ask(start);
  let before = offset;
  for (let step = start; step < start + chunkMs; step += stepMs) {
    const high = step + stepMs;
    const after = ask(high);
    let low = step;
    while (before !== after) {
      const change = firstChange(ask, low, high, before);
      transitions.push(change);
      low = change.at;
      before = change.after;
    }
  }
  return { offset, transitions };
}

/** Bisection between an instant that has the offset and one that has not. */
function firstChange(ask: (instant: Instant) => number, from: Instant, to: Instant, before: number): ZoneTransition {
  let [low, high] = [from, to];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (ask(middle) === before) low = middle;
    else high = middle;
  }
  return { at: high, before, after: ask(high) };
}

/** `hour:minute[:second]` east of UTC, as Intl's long offset gives it; seconds occur before 1972. */
function asker(name: string): (instant: Instant) => number {
  const format = new Intl.DateTimeFormat("en-US", { timeZone: name, timeZoneName: "longOffset", second: "numeric" });
  return (instant) => {
    const text = format.format(instant);
    const sign = text.includes("-") ? -1 : 1;
    const [hours = 0, minutes = 0, seconds = 0] = text
      .slice(text.indexOf("T") + 2)
      .split(":")
      .map(Number);
    return sign * ((hours * 60 + minutes) * 60 + seconds) * 1_000;
  };
}

/** Intl accepts offsets such as `+09:00` as zones; Belfry does not. */
function isZone(name: string): boolean {
  if (!/^[A-Za-z][\w+/-]*$/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** The nearest name, by its whole or by its last part (`Seoul`); null when none is near. */
function similarZone(name: string): string | null {
  const wanted = plainName(name);
  const [nearest] = ["UTC", ...Intl.supportedValuesOf("timeZone")]
    .map((zone) => {
      const whole = plainName(zone);
      const city = whole.slice(whole.lastIndexOf("/") + 1);
      return { zone, away: Math.min(editDistance(wanted, whole), editDistance(wanted, city)) };
    })
    .filter(({ away }) => away <= Math.max(1, wanted.length / 4))
    .toSorted((a, b) => a.away - b.away);
  return nearest?.zone ?? null;
}

const plainName = (name: string): string => name.toLowerCase().replaceAll(" ", "_");
