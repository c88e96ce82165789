import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineCalendar, defineJob, defineSchedule, type HolidayDate } from "../../src/compose/index.ts";
import { timesOf } from "../../src/testing/times-of.ts";
import type { Check } from "./check.ts";
import { pythonTools, run } from "./tools.ts";
import type { Target } from "./world.ts";

const program = fileURLToPath(new URL("programs/calendars.py", import.meta.url));
const weekdays = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;
const job = defineJob({ id: "work", run() {} });

/** What the libraries say; dates are texts. */
interface Oracle {
  readonly countries: readonly {
    readonly name: string;
    readonly weekend: readonly number[];
    readonly dates: readonly HolidayDate[];
    readonly ics: string;
    readonly open: readonly string[];
    readonly previous: readonly string[];
    readonly next: readonly string[];
  }[];
  readonly texts: readonly { readonly ics: string; readonly days: readonly string[] }[];
}

interface Faulty extends Target {
  readonly spoil?: (oracle: Oracle) => Oracle;
}

/** With their ends. */
const whole = ["2020-01-01", "2029-12-31"] as const;
const months = ["2020-02-01", "2029-11-30"] as const;

/** The dates on which a schedule fires by readings of the stretch, also those that are moved out of it. */
function fires(options: object, [from, to]: readonly [string, string]): readonly string[] {
  const schedule = defineSchedule({ id: "daily", run: job, cron: "0 9 * * *", timezone: "UTC", ...options });
  const within = (reading: string) => reading >= from && reading.slice(0, 10) <= to;
  const far = { after: "2019-11-01T00:00:00Z", until: "2030-02-28T00:00:00Z" };
  return timesOf(schedule, far)
    .filter(({ kind, localTime }) => (kind === "fires" || kind === "merged") && within(localTime))
    .map(({ at }) => at.slice(0, 10));
}

function differences({ countries, texts }: Oracle): readonly string[] {
  const findings: string[] = [];
  const compare = (what: string, found: readonly string[], wanted: readonly string[]): void => {
    const [these, those] = [new Set(found), new Set(wanted)];
    const odd = [...found.filter((day) => !those.has(day)), ...wanted.filter((day) => !these.has(day))];
    if (odd.length > 0) findings.push(`${what}: ${odd.length} days differ, like ${odd[0] ?? ""}`);
  };
  for (const { name, weekend, dates, ics, open, previous, next } of countries) {
    const free = defineCalendar({ id: "weekend", weekdays: weekdays.filter((_, day) => weekend.includes(day)) });
    for (const [from, holidays] of [
      ["dates", defineCalendar({ dates })],
      ["ics", defineCalendar({ ics })],
    ] as const) {
      const except = [free, holidays];
      compare(`${name} by ${from}, open days`, fires({ except }, whole), open);
      const last = { except, cron: "0 9 L * *", onExcluded: "previous-business-day" };
      compare(`${name} by ${from}, last business days`, fires(last, months), previous);
      const middle = { except, cron: "0 9 15 * *", onExcluded: "next-business-day" };
      compare(`${name} by ${from}, 15th or later`, fires(middle, months), next);
    }
  }
  for (const { ics, days } of texts) {
    const named = ics.split("\r\n").slice(5, -3).join(" ");
    const found = days.length === 0 ? [] : fires({ only: defineCalendar({ ics }) }, whole);
    compare(named, found, days);
  }
  return findings;
}

let oracle: Oracle | undefined;

/** Holidays of 50 countries over ten years, their business days and texts of iCalendar, against `holidays`, NumPy and `recurring-ical-events`. */
export const calendarCheck: Check = {
  name: "calendars, by three libraries of Python",
  async missing() {
    const python = await pythonTools();
    if ("missing" in python) return python.missing;
    const { code, output } = await run(join(python.bin, "python"), [program]);
    if (code === 0) oracle = JSON.parse(output) as Oracle;
    return code === 0 ? null : output.slice(-200);
  },
  async run({ spoil }: Faulty) {
    if (oracle === undefined) return ["the libraries said nothing"];
    return differences(spoil?.(oracle) ?? oracle);
  },
  faults: {
    "a country with one holiday fewer": (target) => {
      const spoil = ({ countries, texts }: Oracle): Oracle => ({
        countries: countries.slice(0, 3).map((each) => ({ ...each, dates: each.dates.slice(0, -1) })),
        texts,
      });
      return { target: { ...target, spoil } as Faulty };
    },
    "days that move to the other side": (target) => {
      const spoil = ({ countries, texts }: Oracle): Oracle => ({
        countries: countries.slice(0, 3).map((each) => ({ ...each, previous: each.next })),
        texts,
      });
      return { target: { ...target, spoil } as Faulty };
    },
  },
};
