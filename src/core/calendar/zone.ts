import type { Instant } from "../job/job.ts";
import { contractLimits } from "../job/contract-limits.ts";
import { scheduleLimits } from "../ports/schedule-limits.ts";

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
  if (name.length <= contractLimits.idCharactersMax && isZone(name)) return null;
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
  const known = opened.get(name);
  if (known !== undefined) return known;
  const problem = zoneProblem(name);
  if (problem !== null) throw new RangeError(problem);
  const zone = name === "UTC" ? utc : chunkedZone(name);
  opened.set(name, zone);
  return zone;
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
const samplesPerChunk = 32;

/** A call of Intl costs about a microsecond, so each chunk is computed once (about 30 calls) and cached. */
function chunkedZone(name: string): Zone {
  const ask = asker(name);
  const chunks = new Map<number, Chunk>();
  const chunk = (index: number): Chunk => {
    const known = chunks.get(index);
    if (known !== undefined) return known;
    if (chunks.size >= scheduleLimits.zoneChunksMax) chunks.clear();
    const made = sample(ask, index * chunkMs);
    chunks.set(index, made);
    return made;
  };
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
  for (let k = 0; k < samplesPerChunk; k++) {
    const high = start + ((k + 1) * chunkMs) / samplesPerChunk;
    const after = ask(high);
    let low = start + (k * chunkMs) / samplesPerChunk;
    while (before !== after) {
      const change = firstChange(ask, low, high, before);
      transitions.push(change);
      low = change.at;
      before = change.after;
    }
  }
  return { offset, transitions };
}

/** Bisection between an instant that has the offset and one that has not; changes happen on whole seconds. */
function firstChange(ask: (instant: Instant) => number, from: Instant, to: Instant, before: number): ZoneTransition {
  let low = Math.floor(from / 1_000);
  let high = Math.ceil(to / 1_000);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (ask(middle * 1_000) === before) low = middle;
    else high = middle;
  }
  return { at: high * 1_000, before, after: ask(high * 1_000) };
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

/** The nearest name by edit distance, of the whole or of its last part (`Seoul`); null when nothing is near. */
function similarZone(name: string): string | null {
  const wanted = plainName(name);
  let best: { name: string; distance: number } | null = null;
  for (const zone of ["UTC", ...Intl.supportedValuesOf("timeZone")]) {
    const whole = plainName(zone);
    const distance = Math.min(
      editDistance(wanted, whole),
      editDistance(wanted, whole.slice(whole.lastIndexOf("/") + 1)),
    );
    if (best === null || distance < best.distance) best = { name: zone, distance };
  }
  return best !== null && best.distance <= Math.max(1, Math.floor(wanted.length / 4)) ? best.name : null;
}

const plainName = (name: string): string => name.toLowerCase().replaceAll(" ", "_");

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
