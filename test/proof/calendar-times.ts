import { parseCron } from "../../src/calendar/cron.ts";
import type { ScheduleSpec } from "../../src/machine/schedule.ts";
import { shiftByHand } from "../schedules/calendar-by-hand.ts";
import { type RowByHand, rowsByHand, type Seen, watch } from "../schedules/clock.ts";

const dayMs = 86_400_000;
/** As docs/schedules.md has it: what is later begins an outage. */
const missedMs = 120_000;
/** Longer than any stretch of days in the proof whose times fire on another one. */
const reachMs = 12 * dayMs;

/** The versions of a schedule, the oldest first, each with the last instant that belongs to it. */
export type Eras = readonly (readonly [spec: ScheduleSpec, until: number])[];

interface Decided {
  /** Each instant at which times were decided, while the clock stood. */
  readonly stops: readonly number[];
  isPaused(id: string, stop: number): boolean;
}

/** What the ledger of the case `calendar` must say after `from`, from the days one by one and the wall clocks minute by minute. */
export class CalendarTimes {
  readonly #from: number;
  readonly #seen: (zone: string) => readonly Seen[];

  constructor(from: number, end: number) {
    const watched = new Map<string, readonly Seen[]>();
    this.#from = from;
    this.#seen = (zone) => {
      const seen = watched.get(zone) ?? watch(zone, from - reachMs, end + reachMs);
      watched.set(zone, seen);
      return seen;
    };
  }

  /** All readings of one version that belong to `(after, until]`. */
  rows({ expression, timezone, dst, calendars }: ScheduleSpec, after: number, until: number): readonly RowByHand[] {
    const parsed = parseCron(expression.form === "cron" ? expression.cron : "");
    if (!parsed.ok) throw new Error(parsed.problem);
    const rows = rowsByHand(parsed.cron, dst, this.#seen(timezone), calendars);
    return rows.filter(({ nominalAt: at }) => at > after && at <= until);
  }

  /** A line for each row. A reading that one version has decided is not decided again. */
  ledger(eras: Eras, decided: Decided): readonly string[] {
    const lines = eras.flatMap(([spec, until], n) => [
      ...this.#lines(spec, this.rows(spec, eras[n - 1]?.[1] ?? this.#from, until), decided),
    ]);
    return [...new Map(lines.toReversed()).values()];
  }

  *#lines(spec: ScheduleSpec, rows: readonly RowByHand[], decided: Decided): Generator<readonly [string, string]> {
    const firing = new Map<number, RowByHand>();
    for (const row of rows.filter(({ fires }) => fires)) {
      const other = firing.get(row.nominalAt);
      // Who is really on that day comes before who was moved there.
      if (other === undefined || (row.calendar === undefined && other.calendar !== undefined))
        firing.set(row.nominalAt, row);
    }
    for (const row of rows) {
      const { localTime, fold, nominalAt, fires, calendar = "" } = row;
      const first = firing.get(nominalAt);
      const merged = first === row ? verdictOf(spec, row, [...firing.values()], decided) : `COALESCED ${into(first)}`;
      const verdict = fires ? merged : `SKIPPED ${isLeftOut(spec, row) ? "excluded" : "dst-gap"}`;
      yield [`${localTime}/${fold}`, [spec.id, `${localTime}/${fold}`, nominalAt, verdict, calendar].join(" ").trim()];
    }
  }
}

const into = (row: RowByHand | undefined): string => `into ${row?.localTime}`;

const isLeftOut = ({ calendars }: ScheduleSpec, { localTime, calendar }: RowByHand): boolean =>
  calendars !== undefined && calendar !== undefined && shiftByHand(calendars, localTime.slice(0, 10)) === null;

/** Of a time that fires, by the stop at which it was decided and by what was decided with it. */
function verdictOf(
  { id, misfire }: ScheduleSpec,
  row: RowByHand,
  firing: readonly RowByHand[],
  { stops, isPaused }: Decided,
): string {
  const now = stops.find((at) => at >= row.nominalAt) ?? Number.NaN;
  const before = stops.findLast((at) => at < row.nominalAt) ?? Number.NaN;
  const started = (how: string): string => (isPaused(id, now) ? "SKIPPED paused" : how);
  const beside = firing.filter(({ nominalAt: at }) => at > before && at <= now);
  const isRecent = ({ nominalAt }: RowByHand): boolean => nominalAt >= now - missedMs;
  if (beside.every(isRecent) || (misfire.rule === "skip" && isRecent(row))) return started("FIRED");
  const kept = { skip: 0, latest: 1, all: misfire.maxCount ?? beside.length }[misfire.rule];
  const newest = beside.toSorted((a, b) => b.nominalAt - a.nominalAt).slice(0, kept);
  if (newest.includes(row)) return started("CAUGHT_UP");
  return misfire.rule === "latest" ? `COALESCED ${into(newest[0])}` : "SKIPPED misfire";
}
