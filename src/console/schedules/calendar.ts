import type { OccurrenceCountsReply } from "../../insight/occurrence-counts.ts";
import { language } from "../language/choice.ts";

type Quarter = OccurrenceCountsReply["quarters"][number];

/** From the worst on: a cell has the colour of the first that it counts. */
export const heatEnds = ["failed", "stopped", "nothing", "open", "succeeded", "unknown"] as const;

export interface HeatCell extends Omit<Quarter, "at"> {
  readonly from: number;
  readonly to: number;
}

export interface Calendar {
  /** The hours of a day, or the days of a week. */
  readonly columns: readonly string[];
  /** The newest first, without a gap; `day` is the first of a row. */
  readonly rows: readonly { readonly day: string; readonly cells: readonly (HeatCell | null)[] }[];
}

const dayMs = 86_400_000;
const quarterMs = 900_000;
const dayText = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** Monday is the first. */
const weekdayOf = (day: string): number => (new Date(day).getUTCDay() + 6) % 7;

/**
 * Days down and hours across by the clock of a zone, or weeks down and days across where no day has times in two hours. An hour
 * that a clock change repeats is one cell.
 */
export function calendarOf(quarters: readonly Quarter[], zone: string): Calendar {
  const clock = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "short" });
  const read = quarters.map((quarter) => {
    const [day = "", time = ""] = clock.format(Date.parse(quarter.at)).split(" ");
    return { quarter, day, hour: Number(time.slice(0, 2)) };
  });
  const [first, last] = [read[0]?.day, read.at(-1)?.day];
  if (first === undefined || last === undefined) return { columns: [], rows: [] };
  const byDay = [...Map.groupBy(read, ({ day }) => day).values()];
  const isByWeek = byDay.every((all) => all.every(({ hour }) => hour === all[0]?.hour));
  const rowOf = (day: string): string => (isByWeek ? dayText(Date.parse(day) - weekdayOf(day) * dayMs) : day);
  const rows = new Map<string, Map<number, HeatCell>>();
  for (let at = Date.parse(last); at >= Date.parse(first); at -= dayMs) rows.set(rowOf(dayText(at)), new Map());
  for (const { quarter, day, hour } of read) {
    const place = isByWeek ? weekdayOf(day) : hour;
    const row = rows.get(rowOf(day));
    row?.set(place, joined(row.get(place), quarter));
  }
  const columns = isByWeek ? weekdays() : hours;
  return {
    columns,
    rows: [...rows].map(([day, cells]) => ({ day, cells: columns.map((_, place) => cells.get(place) ?? null) })),
  };
}

/** Every third is named: in a narrow window there is no more room. */
const hours = Array.from({ length: 24 }, (_, hour) => (hour % 3 === 0 ? String(hour).padStart(2, "0") : ""));

function weekdays(): readonly string[] {
  const format = new Intl.DateTimeFormat(language, { weekday: "short", timeZone: "UTC" });
  return Array.from({ length: 7 }, (_, place) => format.format(Date.UTC(2024, 0, 1 + place)));
}

function joined(cell: HeatCell | undefined, { at, ...quarter }: Quarter): HeatCell {
  const from = Date.parse(at);
  const own = { ...quarter, from, to: from + quarterMs };
  if (cell === undefined) return own;
  const sums = Object.fromEntries([...heatEnds, "late" as const].map((of) => [of, cell[of] + own[of]]));
  return { ...own, ...sums, from: cell.from, latestMs: Math.max(cell.latestMs ?? 0, own.latestMs ?? 0) };
}
