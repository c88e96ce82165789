import { Cron as Croner } from "croner";
import { expect, test } from "vitest";
import { parseCron } from "../../src/calendar/cron.ts";
import { nominalTimes } from "../support/nominal-times.ts";

/** The table of differences in docs/schedules.md, row by row, so that it is true of the version in use. */
const refusedThere = (text: string) => () => new Croner(text, { timezone: "UTC", paused: true });

test.each(["0 0 L-3 * *", "0 22-2 * * *", "0 0 * * FRI-MON", "5/10 * * * *"])(
  "%s is read here and refused there",
  (text) => {
    expect(parseCron(text).ok).toBe(true);
    expect(refusedThere(text)).toThrow("CronPattern");
  },
);

test.each(["? * * * *", "30 2 30 2 *", "0 0 0 12 * *"])("%s is refused here and read there", (text) => {
  expect(parseCron(text).ok).toBe(false);
  expect(refusedThere(text)).not.toThrow();
});

test.each([
  ["30 1,2 * * *", "America/New_York", "2026-11-01T06:00Z", ["05:30", "07:30"], ["05:30", "06:30", "07:30"]],
  ["15,45 2 * * *", "America/New_York", "2026-03-08T07:00Z", ["07:00"], []],
  ["0 9 * * *", "Pacific/Apia", "2011-12-30T10:00Z", ["10:00"], []],
])("%s around the change of %s", (text, zone, utc, here, there) => {
  const change = Date.parse(utc);
  const [from, until] = [change - 3 * 3_600_000, change + 3 * 3_600_000];
  const window = { afterExclusive: from - 1, untilInclusive: until, max: 100 };
  const ours = nominalTimes({ form: "cron", cron: text }, zone, { gap: "auto", overlap: "auto" }, window);
  expect(ours.filter((time) => time.kind === "fires").map((time) => hourOf(time.instant))).toEqual(here);
  expect(croner(text, zone, from, until).map(hourOf)).toEqual(there);
});

test("days 30 and 31 do not take the first of March away after a February", () => {
  const [from, until] = [Date.UTC(2023, 1, 26), Date.UTC(2023, 2, 31)];
  const window = { afterExclusive: from, untilInclusive: until, max: 10 };
  const ours = nominalTimes({ form: "cron", cron: "0 0 1,30 * *" }, "UTC", { gap: "auto", overlap: "auto" }, window);
  const days = (instants: readonly number[]): string[] => instants.map((at) => new Date(at).toISOString().slice(5, 10));
  expect(days(ours.flatMap((time) => (time.kind === "fires" ? [time.instant] : [])))).toEqual(["03-01", "03-30"]);
  expect(days(croner("0 0 1,30 * *", "UTC", from, until))).toEqual(["03-30"]);
});

function croner(text: string, timezone: string, from: number, until: number): readonly number[] {
  const next = new Croner(text, { timezone, paused: true }).nextRuns(10, new Date(from - 1));
  return next.map((date) => date.getTime()).filter((instant) => instant <= until);
}

const hourOf = (instant: number): string => new Date(instant).toISOString().slice(11, 16);
