import { parseCron } from "../../../src/calendar/cron.ts";
import type { Dst, NominalTime } from "../../../src/calendar/fires.ts";
import { nominalTimes } from "../../support/nominal-times.ts";
import { openZone, tzVersion } from "../../../src/calendar/zone.ts";
import { firesByHand, intlOffset, type Seen } from "../../schedules/clock.ts";
import type { Proof } from "../proof.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const decade = { from: Date.UTC(2024, 0, 1), until: Date.UTC(2034, 0, 1) };
/** The table of changes goes further back, to find short-lived ones that a coarser look could miss. */
const table = { from: Date.UTC(1970, 0, 1), until: Date.UTC(2038, 0, 1), stepMs: 12 * hourMs };
const auto: Dst = { gap: "auto", overlap: "auto" };

/** Every zone of the platform against a table of changes made by looking at its wall clock, without the code under test. */
export const zones: Proof = {
  name: "zones",
  about: "all zones of the platform: daily for ten years, hourly, half-hourly and every minute around every change",
  async run({ log, size }, list) {
    const names = ["UTC", ...Intl.supportedValuesOf("timeZone")].filter((_, k) => k % Math.ceil(1 / size) === 0);
    const wrong: Wrong = { changes: [], daily: [], hourly: [], explicit: [], minutely: [] };
    const counts = { changes: 0, fires: 0 };
    for (const [k, name] of names.entries()) {
      checkZone(name, wrong, counts);
      if (k % 100 === 99) log(`${k + 1} of ${names.length} zones, ${counts.fires} fires compared`);
    }
    list.expectNone("the changes of each zone are those its wall clock shows, 1970 to 2037", wrong.changes);
    list.expectNone("a daily time fires once on each local date for ten years", wrong.daily);
    list.expectNone("hourly and half-hourly fire at each such reading around every change", wrong.hourly);
    list.expectNone("each explicit gap and overlap rule fires as stated around every change", wrong.explicit);
    list.expectNone("every minute fires once in each elapsed minute around every change", wrong.minutely);
    list.expect("there were zones and changes to look at", names.length > 0 && counts.changes > 0);
    list.figure(
      `${names.length} zones, tz ${tzVersion}, ${counts.changes} changes in ten years, ${counts.fires} fires compared`,
    );
  },
};

interface Wrong {
  readonly changes: string[];
  readonly daily: string[];
  readonly hourly: string[];
  readonly explicit: string[];
  readonly minutely: string[];
}

interface Change {
  readonly at: number;
  readonly before: number;
  readonly after: number;
}

function checkZone(zone: string, wrong: Wrong, counts: { changes: number; fires: number }): void {
  const changes = changesByClock(zone);
  const ours = openZone(zone).transitions(table.from, table.until);
  if (JSON.stringify(ours) !== JSON.stringify(changes))
    wrong.changes.push(`${zone}: ${ours.length} of ${changes.length}`);
  const start = intlOffset(zone, table.from);
  const offsetAt = (instant: number): number => changes.findLast((change) => change.at <= instant)?.after ?? start;
  for (const text of ["30 2 * * *", "0 0 * * *", "59 23 * * *", "15 1 * * *"])
    counts.fires += checkDaily(zone, text, changes, offsetAt, wrong);
  for (const change of changes.filter(({ at }) => at >= decade.from && at < decade.until)) {
    counts.changes += 1;
    counts.fires += checkAround(zone, change, offsetAt, wrong);
  }
}

/** Looks at the wall clock every twelve hours, then closes in on the second of each change. */
function changesByClock(zone: string): readonly Change[] {
  const changes: Change[] = [];
  let before = intlOffset(zone, table.from);
  for (let instant = table.from; instant < table.until; instant += table.stepMs) {
    for (let low = instant; before !== intlOffset(zone, instant + table.stepMs);) {
      let high = instant + table.stepMs;
      while (high - low > 1_000) {
        const middle = low + Math.floor((high - low) / 2_000) * 1_000;
        if (intlOffset(zone, middle) === before) low = middle;
        else high = middle;
      }
      const after = intlOffset(zone, high);
      changes.push({ at: high, before, after });
      [before, low] = [after, high];
    }
  }
  return changes;
}

function fires(zone: string, cron: string, dst: Dst, from: number, until: number): readonly number[] {
  const window = { afterExclusive: from - 1, untilInclusive: until - 1, max: Number.POSITIVE_INFINITY };
  const times: readonly NominalTime[] = nominalTimes({ form: "cron", cron }, zone, dst, window);
  return times.filter((time) => time.kind === "fires").map((time) => time.instant);
}

/** One fire for each local date: at the reading's first pass, or at the change when the reading was skipped. */
function checkDaily(
  zone: string,
  cron: string,
  changes: readonly Change[],
  offsetAt: (i: number) => number,
  wrong: Wrong,
): number {
  const [minute = 0, hour = 0] = cron.split(" ").slice(0, 2).map(Number);
  const expected = new Set<number>();
  const firstDate = Math.floor((decade.from + offsetAt(decade.from)) / dayMs) * dayMs;
  for (let date = firstDate; date <= decade.until + dayMs; date += dayMs) {
    const reading = date + hour * hourMs + minute * minuteMs;
    const gap = changes.find((change) => reading >= change.at + change.before && reading < change.at + change.after);
    const guess = reading - offsetAt(reading - offsetAt(reading) - dayMs);
    const passes = [...new Set([guess, reading - offsetAt(guess), reading - offsetAt(guess + dayMs)])].filter(
      (i) => i + offsetAt(i) === reading,
    );
    expected.add(gap?.at ?? Math.min(...passes));
  }
  const inside = [...expected]
    .filter((instant) => instant >= decade.from && instant < decade.until)
    .toSorted((a, b) => a - b);
  const ours = fires(zone, cron, auto, decade.from, decade.until);
  compare(`${zone} ${cron}`, ours, inside, wrong.daily);
  return ours.length;
}

function checkAround(zone: string, change: Change, offsetAt: (i: number) => number, wrong: Wrong): number {
  const from = change.at - 2 * dayMs;
  const until = change.at + 2 * dayMs;
  let compared = 0;
  const minutes = Array.from({ length: (until - from) / minuteMs }, (_, k) => from + k * minuteMs);
  const check = (cron: string, dst: Dst, expected: readonly number[], into: string[]) => {
    const ours = fires(zone, cron, dst, from, until);
    compare(`${zone} ${cron} ${dst.gap}/${dst.overlap} at ${new Date(change.at).toISOString()}`, ours, expected, into);
    compared += ours.length;
  };
  check("* * * * *", auto, minutes, wrong.minutely);
  const every = (step: number) => minutes.filter((instant) => (instant + offsetAt(instant)) % (step * minuteMs) === 0);
  check("0 * * * *", auto, every(60), wrong.hourly);
  check("*/30 * * * *", auto, every(30), wrong.hourly);
  const seen = halfHours(minutes, offsetAt);
  for (const gap of ["skip", "shift", "first-valid"] as const) {
    for (const overlap of ["first", "second", "both"] as const) {
      for (const text of ["*/30 * * * *", "30 0-3 * * *"]) {
        const parsed = parseCron(text);
        if (!parsed.ok) throw new Error(parsed.problem);
        check(text, { gap, overlap }, firesByHand(parsed.cron, { gap, overlap }, seen), wrong.explicit);
      }
    }
  }
  return compared;
}

/** The readings at :00 and :30 with their passes, or with the change that skipped them. */
function halfHours(minutes: readonly number[], offsetAt: (i: number) => number): readonly Seen[] {
  const passes = new Map<number, number[]>();
  const skipped = new Map<number, { onOldClock: number; change: number }>();
  let before = offsetAt((minutes[0] ?? 0) - 1);
  for (const instant of minutes) {
    const offset = offsetAt(instant);
    for (let gone = instant + before; gone < instant + offset; gone += minuteMs) {
      if (gone % (30 * minuteMs) === 0) skipped.set(gone, { onOldClock: gone - before, change: instant });
    }
    before = offset;
    if ((instant + offset) % (30 * minuteMs) === 0)
      passes.set(instant + offset, [...(passes.get(instant + offset) ?? []), instant]);
  }
  const readings = [...new Set([...passes.keys(), ...skipped.keys()])].toSorted((a, b) => a - b);
  return readings.map((reading) => ({
    reading,
    instants: passes.get(reading) ?? [],
    skipped: skipped.get(reading) ?? null,
  }));
}

function compare(what: string, ours: readonly number[], expected: readonly number[], into: string[]): void {
  if (ours.length === expected.length && ours.every((instant, k) => instant === expected[k])) return;
  const missed = expected.filter((instant) => !ours.includes(instant));
  const extra = ours.filter((instant) => !expected.includes(instant));
  const at = new Date(missed[0] ?? extra[0] ?? 0).toISOString();
  into.push(`${what}: ${missed.length} missed, ${extra.length} too many or twice, first ${at}`);
}
