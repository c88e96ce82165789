import type { OccurrenceCountsReply } from "../../insight/occurrence-counts.ts";
import { language } from "../language/choice.ts";

type Quarter = OccurrenceCountsReply["quarters"][number];

/** From the worst on: a cell has the colour of the first that it counts. */
export const heatEnds = ["failed", "stopped", "nothing", "open", "succeeded", "unknown"] as const;

export interface HeatCell extends Omit<Quarter, "at"> {
  readonly from: number;
  readonly to: number;
}

export interface HeatRow {
  /** Its first day: `2026-11-21`. */
  readonly id: string;
  readonly cells: readonly (HeatCell | null)[];
}

export interface Calendar {
  /** The hours of a day, or the days of a week. */
  readonly columns: readonly string[];
  /** The newest first, without a gap. */
  readonly rows: readonly HeatRow[];
}

const dayMs = 86_400_000;
const quarterMs = 900_000;
const dayText = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** Monday is the first. */
const weekdayOf = (day: string): number => (new Date(day).getUTCDay() + 6) % 7;
const mondayOf = (day: string): string => dayText(Date.parse(day) - weekdayOf(day) * dayMs);

function weekdays(): readonly string[] {
  const format = new Intl.DateTimeFormat(language, { weekday: "short", timeZone: "UTC" });
  return Array.from({ length: 7 }, (_, place) => format.format(Date.UTC(2024, 0, 1 + place)));
}

/**
 * Days down and hours across by the clock of a zone, or weeks down and days across where no day has times in two hours. An hour
 * that a clock change repeats is one cell.
 */
export function calendarOf(quarters: readonly Quarter[], zone: string): Calendar {
  const clock = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "short" });
  const placed = quarters.map((quarter) => {
    const [day = "", time = ""] = clock.format(Date.parse(quarter.at)).split(" ");
    return { quarter, day, hour: Number(time.slice(0, 2)) };
  });
  const days = Map.groupBy(placed, ({ day }) => day);
  const isByWeek = [...days.values()].every((all) => all.every(({ hour }) => hour === all[0]?.hour));
  const rows = new Map<string, Map<number, HeatCell>>();
  const [first, last] = [placed[0]?.day, placed.at(-1)?.day];
  if (first === undefined || last === undefined) return { columns: [], rows: [] };
  const rowOf = (day: string): string => (isByWeek ? mondayOf(day) : day);
  for (let at = Date.parse(last); at >= Date.parse(first); at -= dayMs) rows.set(rowOf(dayText(at)), new Map());
  for (const { quarter, day, hour } of placed) {
    const row = rows.get(rowOf(day));
    const place = isByWeek ? weekdayOf(day) : hour;
    row?.set(place, joined(row.get(place), quarter));
  }
  const hours = Array.from({ length: 24 }, (_, hour) => (hour % 3 === 0 ? String(hour).padStart(2, "0") : ""));
  const columns = isByWeek ? weekdays() : hours;
  return {
    columns,
    rows: [...rows].map(([id, cells]) => ({ id, cells: columns.map((_, place) => cells.get(place) ?? null) })),
  };
}

function joined(cell: HeatCell | undefined, { at, ...counts }: Quarter): HeatCell {
  const from = Date.parse(at);
  const own = { ...counts, from, to: from + quarterMs };
  if (cell === undefined) return own;
  const sum = (of: (typeof heatEnds)[number] | "late"): number => cell[of] + own[of];
  const [failed, stopped, nothing, open, succeeded, unknown] = heatEnds.map(sum) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const latestMs = Math.max(cell.latestMs ?? -1, own.latestMs ?? -1);
  return {
    ...{ failed, stopped, nothing, open, succeeded, unknown, late: sum("late"), to: own.to, from: cell.from },
    latestMs: latestMs < 0 ? null : latestMs,
  };
}
