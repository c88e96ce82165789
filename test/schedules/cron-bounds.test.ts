import { expect, test } from "vitest";
import { parseAt, parseRate } from "../../src/core/calendar/aws-cron.ts";
import { type CronRule, daysOf, parseCron } from "../../src/core/calendar/cron.ts";
import { parseDayOfMonth, parseDayOfWeek } from "../../src/core/calendar/cron-day.ts";
import { fields, type Field, parseValues } from "../../src/core/calendar/cron-field.ts";

const problem = (text: string): string => {
  const result = parseCron(text);
  return result.ok ? "accepted" : result.problem;
};
const parsed = (text: string): CronRule => {
  const result = parseCron(text);
  if (!result.ok) throw new Error(result.problem);
  return result.cron;
};

/** The values of a range with a step, walked value by value round the field; an alias is read as the lowest. */
function walked({ min, max, alias }: Field, low: number, high: number, step: number): number[] {
  const taken = new Set<number>();
  for (let value = low, count = 0; ; value += 1, count += 1) {
    if (value > Math.max(max, alias ?? max) || (value > max && value > high)) value = min;
    if (count % step === 0) taken.add(value === alias ? min : value);
    if (value === high) return [...taken].toSorted((a, b) => a - b);
  }
}

const numbered = [fields.minute, fields.hour, fields.dayOfMonth, fields.month, fields.dayOfWeek, fields.awsDayOfWeek];

test.each(numbered.map((field) => [`${field.name} ${field.min}-${field.max}`, field] as const))(
  "each value, range and step of %s is walked from its first value to its last",
  (_, field) => {
    const top = field.alias ?? field.max;
    const ends = [field.min, field.min + 1, field.min + 4, field.max - 1, field.max, top];
    const size = field.max - field.min + 1;
    for (const low of ends) {
      expect(parseValues(field, [`${low}`]).values).toEqual(walked(field, low, low, 1));
      for (const step of [1, 2, 3, size - 1, size]) {
        const read = low === field.alias ? field.min : low;
        expect(parseValues(field, [`${low}/${step}`]).values).toEqual(walked(field, read, field.max, step));
        const expected = size % step === 0 ? [] : [step];
        expect(parseValues(field, [`${low}/${step}`]).unevenSteps).toEqual(expected);
        expect(parseValues(field, [`*/${step}`]).values).toEqual(walked(field, field.min, field.max, step));
        for (const high of ends) {
          const text = `${low}-${high}/${step}`;
          const { values, unevenSteps } = parseValues(field, [text]);
          expect([text, ...values]).toEqual([text, ...walked(field, low, high, step)]);
          expect(unevenSteps).toEqual([]);
        }
      }
    }
    for (const bad of [field.min - 1, top + 1].filter((value) => value >= 0))
      expect(() => parseValues(field, [`${bad}`])).toThrow(`values go from ${field.min} to ${top}`);
    for (const bad of ["", "x", "-1", "1.5", "12345"])
      expect(() => parseValues(field, [`*/${bad}`])).toThrow("the step after `/` is a whole number");
    expect(() => parseValues(field, [`*/${size + 1}`])).toThrow(`(${size} values)`);
    expect(() => parseValues(field, ["*/0"])).toThrow("a step is at least 1");
  },
);

test("a range of years may be one year, and the years are all of them or a list", () => {
  expect(parsed("cron(0 0 1 1 ? 2005-2005)").years).toEqual([2005]);
  expect(parsed("cron(0 0 1 1 ? 2005-2006)").years).toEqual([2005, 2006]);
  expect(parsed("cron(0 0 1 1 ? *)").years).toBeNull();
  expect(parsed("0 0 1 1 *").years).toBeNull();
  expect([2004, 2005, 2006].map((year) => daysOf(parsed("cron(0 0 1 1 ? 2005)"), year, 1))).toEqual([[], [1], []]);
  expect([1, 2].map((month) => daysOf(parsed("cron(0 0 1 1 ? 2005)"), 2005, month))).toEqual([[1], []]);
});

test("what a day of the month says is read part by part", () => {
  expect(parseDayOfMonth("LW,wl,L,L-3,l-02,L-30,L-2W,15W,4-5")).toEqual({
    any: false,
    days: [4, 5],
    fromLast: [0, 3, 2, 30],
    nearest: [15],
    nearestFromLast: [0, 0, 2],
  });
  expect(parseDayOfMonth("*")).toEqual({ any: true, days: [], fromLast: [], nearest: [], nearestFromLast: [] });
});

test("Sunday is 0 in what is read, however it was written", () => {
  expect(parseDayOfWeek("7L,7#2,SUNL", fields.dayOfWeek)).toEqual({
    any: false,
    days: [],
    nth: [{ weekday: 0, n: 2 }],
    last: [0, 0],
  });
  expect(parseDayOfWeek("1L,7#1", fields.awsDayOfWeek)).toMatchObject({ nth: [{ weekday: 6, n: 1 }], last: [0] });
});

const range = "a range a-b, a step */n or a/n, or a list";
test.each([
  ["a * * * *", `cron "a * * * *": minute "a": "a" is not a value of this field: write 0 to 59, ${range}`],
  ["-5 * * * *", `cron "-5 * * * *": minute "-5": a number is missing: write 0 to 59, ${range}`],
  ["0 0 1 X *", `cron "0 0 1 X *": month "X": "X" is not a value of this field: write 1 to 12 or JAN to DEC, ${range}`],
  [
    "0 0 ? * X",
    `cron "0 0 ? * X": day of week "X": "X" is not a value of this field: write 0 to 7 or SUN to SAT, ${range}`,
  ],
  [
    "0 0 30 2 *",
    'cron "0 0 30 2 *": can never fire: no day matches its day of month, month and day of week in any year',
  ],
  [
    "cron(0 0 29 2 ? 2023)",
    'cron "cron(0 0 29 2 ? 2023)": can never fire: no day matches its day of month, month and day of week in its years',
  ],
  ["? ? ?", 'cron "? ? ?": has 3 fields, it takes five: minute, hour, day of month, month, day of week'],
  ["5", 'cron "5": has 1 field, it takes five: minute, hour, day of month, month, day of week'],
])("%s is refused in these words", (text, expected) => {
  expect(problem(text)).toBe(expected);
});

test("an expression has at most 256 characters", () => {
  const padded = (length: number): string => "* * * * *".padStart(length);
  expect(problem(padded(256))).toBe("accepted");
  expect(problem(padded(257))).toContain("257 characters, at most 256");
});

test("a note is about two restricted day fields and no others", () => {
  const notes = (text: string): number => {
    const result = parseCron(text);
    return result.ok ? result.notes.length : -1;
  };
  expect(["0 0 1 * 1", "0 0 1 * *", "0 0 * * 1", "0 0 * * *"].map(notes)).toEqual([1, 0, 0, 0]);
});

test("what is no text is a mistake of the program", () => {
  expect(() => parseCron(5 as never)).toThrow(TypeError);
});

test("a rate is bounded, and each unit has its length", () => {
  const every = (text: string): number | null => {
    const result = parseRate(text);
    return result.ok ? result.expression.everyMs : null;
  };
  expect(["rate(2 minutes)", "rate(1 hour)", "rate(1 day)", "rate(3660 days)"].map(every)).toEqual([
    120_000,
    3_600_000,
    86_400_000,
    3_660 * 86_400_000,
  ]);
  for (const text of [
    "rate(87841 hours)",
    "rate(3661 days)",
    "rate(0 days)",
    "rate(1 days)",
    "rate(2 day)",
    "rate(1 week)",
  ])
    expect([text, every(text)]).toEqual([text, null]);
  expect(parseRate("rate(5 hour)")).toMatchObject({ problem: 'rate "rate(5 hour)": unit "hour": write rate(5 hours)' });
  expect(parseRate("rate(1 days)")).toMatchObject({ problem: 'rate "rate(1 days)": unit "days": write rate(1 day)' });
});

test("each part of a time counts, and none may go beyond its end", () => {
  const at = (text: string): string | null => {
    const result = parseAt(`at(${text})`);
    return result.ok ? new Date(result.expression.at).toISOString() : null;
  };
  for (const text of ["2026-11-21T08:30:15", "1999-12-31T23:59:59", "2000-02-29T00:00:00", "1970-01-01T00:00:00"])
    expect(at(text)).toBe(`${text}.000Z`);
  for (const text of ["2026-00-01T00:00:00", "2026-01-00T00:00:00", "2026-01-01T24:00:00", "2026-01-01T00:60:00"])
    expect([text, at(text)]).toEqual([text, null]);
});
