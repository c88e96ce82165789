import { describe, expect, test } from "vitest";
import { parseAt, parseRate } from "../../src/calendar/aws-cron.ts";
import { type CronRule, parseCron } from "../../src/calendar/cron.ts";

function parsed(text: string): CronRule {
  const result = parseCron(text);
  if (!result.ok) throw new Error(result.problem);
  return result.cron;
}

const problem = (text: string): string => {
  const result = parseCron(text);
  return result.ok ? "accepted" : result.problem;
};

const notes = (text: string): readonly string[] => {
  const result = parseCron(text);
  return result.ok ? result.notes : [result.problem];
};

describe("five fields", () => {
  test.each([
    ["5,0,10 * * * *", [0, 5, 10]],
    ["50-10/5 * * * *", [0, 5, 10, 50, 55]],
    ["7/20 * * * *", [7, 27, 47]],
    ["0-10/5,3 * * * *", [0, 3, 5, 10]],
    ["59-59 * * * *", [59]],
  ])("the minutes of %s", (text, minutes) => {
    expect(parsed(text).minutes).toEqual(minutes);
  });

  test.each([
    ["0 22-2 * * *", [0, 1, 2, 22, 23]],
    ["0 22-2/2 * * *", [0, 2, 22]],
    ["0 8/6 * * *", [8, 14, 20]],
    ["0 */8 * * *", [0, 8, 16]],
  ])("the hours of %s", (text, hours) => {
    expect(parsed(text).hours).toEqual(hours);
  });

  test.each([
    ["0 0 * * 0", [0]],
    ["0 0 * * 7", [0]],
    ["0 0 * * 5-7", [0, 5, 6]],
    ["0 0 * * 7-2", [0, 1, 2]],
    ["0 0 * * fri-Mon", [0, 1, 5, 6]],
    ["0 0 * * SAT-SUN", [0, 6]],
    ["0 0 * * 0-7", [0, 1, 2, 3, 4, 5, 6]],
    ["0 0 * * 1/2", [1, 3, 5]],
    ["0 0 * * MON,WED,7", [0, 1, 3]],
  ])("the weekdays of %s", (text, weekdays) => {
    expect(parsed(text).dayOfWeek.days).toEqual(weekdays);
  });

  test("months go by number or name and may wrap", () => {
    expect(parsed("0 0 1 NOV-feb *").months).toEqual([1, 2, 11, 12]);
    expect(parsed("0 0 1 1,JUN,12 *").months).toEqual([1, 6, 12]);
  });

  test("macros stand for their five fields", () => {
    expect({ ...parsed("@weekly"), text: "" }).toEqual({ ...parsed("0 0 * * 0"), text: "" });
    expect(problem("@reboot")).toContain("is not a macro: write one of @yearly");
  });
});

describe("what is refused names the field, the value and the rule", () => {
  test.each([
    ["60 * * * *", 'minute "60": values go from 0 to 59'],
    ["* 24 * * *", 'hour "24": values go from 0 to 23'],
    ["* * 0 * *", 'day of month "0": values go from 1 to 31'],
    ["* * * 13 *", 'month "13": values go from 1 to 12'],
    ["* * * * 8", 'day of week "8": values go from 0 to 7'],
    ["*/61 * * * *", 'minute "*/61": a step larger than the field (60 values)'],
    ["* * * */13 *", 'month "*/13": a step larger than the field (12 values)'],
    ["*/0 * * * *", 'minute "*/0": a step is at least 1'],
    ["1//2 * * * *", 'minute "1//2": has more than one `/`'],
    ["1-2-3 * * * *", 'minute "1-2-3": has more than one `-`'],
    ["1,,2 * * * *", 'minute "1,,2": has an empty item'],
    ["a * * * *", 'minute "a"'],
    ["-5 * * * *", 'minute "-5": a number is missing'],
    ["1.5 * * * *", 'minute "1.5"'],
    ["? * * * *", 'minute "?": `?` is only for day of month and day of week'],
    ["* * * * L", 'day of week "L": `L` follows a weekday'],
    ["* * * * 5#6", 'day of week "5#6": `#` takes a weekday and 1 to 5'],
    ["* * L-31 * *", 'day of month "L-31": `L-n` counts 0 to 30 days'],
    ["* * 1-5W * *", 'day of month "1-5W": `W` follows one day'],
    ["* * * FOO *", 'month "FOO"'],
    ["* * * * MONDAY", 'day of week "MONDAY"'],
    ["30 2 30 2 *", "can never fire"],
    ["0 0 31 4,6,9,11 *", "can never fire"],
    ["0 0 L-30 2 *", "can never fire"],
    ["* * *", "has 3 fields, it takes five"],
    ["", "has no fields, it takes five"],
    ["0 0 12 * * *", 'has six fields: seconds are not supported; write "0 12 * * *"'],
    ["0 12 * * ? *", 'has six fields: write AWS\'s form as "cron(0 12 * * ? *)"'],
    ["rate(5 minutes)", "write `every`"],
    [`${"1,".repeat(200)}1 * * * *`, "409 characters, at most 256"],
  ])("%s", (text, expected) => {
    expect(problem(text)).toContain(expected);
    expect(problem(text)).toMatch(/^cron "/);
  });

  test("a day that only some years have is accepted", () => {
    expect(problem("0 0 29 2 *")).toBe("accepted");
    expect(problem("0 0 * 2 5#5")).toBe("accepted");
    expect(problem("0 0 29W 2 *")).toBe("accepted");
  });
});

describe("notes say what a reader may not expect", () => {
  test("both day fields restricted: either matches", () => {
    expect(notes("0 0 13 * FRI")).toEqual([expect.stringContaining("fires on a day that matches either")]);
    expect(notes("0 0 13 * ?")).toEqual([]);
  });

  test("a step that does not divide the field", () => {
    expect(notes("*/7 * * * *")).toEqual([expect.stringContaining("minute step 7 does not divide 60")]);
    expect(notes("0 */5 * * *")).toEqual([expect.stringContaining("hour step 5 does not divide 24")]);
    expect(notes("*/15 */6 * * *")).toEqual([]);
    expect(notes("5/7 * * * *")).toEqual([expect.stringContaining("minute step 7 does not divide 60")]);
    expect(notes("10-50/7 9-17/5 * * *")).toEqual([]);
  });
});

describe("an interval names every hour; a daily window does not", () => {
  test.each(["* * * * *", "*/5 * * * *", "0 * * * *", "30 0-23 * * *", "0 */1 * * *"])("%s is", (text) => {
    expect(parsed(text).isInterval).toBe(true);
  });

  test.each(["30 2 * * *", "*/30 2 * * *", "0 */2 * * *", "0 9-17 * * *", "0,30 2,14 * * *", "0 0 */2 * *"])(
    "%s is not",
    (text) => {
      expect(parsed(text).isInterval).toBe(false);
    },
  );
});

describe("AWS's forms", () => {
  test("weekday 1 is Sunday", () => {
    expect(parsed("cron(0 10 ? * 1 *)").dayOfWeek.days).toEqual([0]);
    expect(parsed("cron(0 10 ? * 7-2 *)").dayOfWeek.days).toEqual([0, 1, 6]);
    expect(parsed("cron(0 10 ? * 6L *)").dayOfWeek.last).toEqual([5]);
    expect(parsed("cron(0 10 ? * SAT#3 *)").dayOfWeek.nth).toEqual([{ weekday: 6, n: 3 }]);
    expect(parsed("cron(0 10 ? * L *)").dayOfWeek.days).toEqual([6]);
    expect(problem("cron(0 10 ? * 0 *)")).toContain('day of week "0": values go from 1 to 7');
  });

  test("years go from 1970 to 2199, and those that are over are accepted", () => {
    expect(parsed("cron(15 10 ? * 6L 2002-2005)").years).toEqual([2002, 2003, 2004, 2005]);
    expect(parsed("cron(0 0 1 1 ? 2190/5)").years).toEqual([2190, 2195]);
    expect(problem("cron(0 0 1 1 ? 2200)")).toContain('year "2200": values go from 1970 to 2199');
    expect(problem("cron(0 0 1 1 ? 2005-2002)")).toContain('year "2005-2002": a range of years ends after it starts');
    expect(problem("cron(0 0 29 2 ? 2023)")).toContain("can never fire");
  });

  test.each([
    ["cron(0 1 * * * *)", "exactly one of the two is `?`"],
    ["cron(0 1 ? * ? *)", "exactly one of the two is `?`"],
    ["cron(0 1 * * ?)", "has 5 fields, cron(...) takes six"],
    ["cron()", "has 0 fields"],
    ["cron(0 1 * * ? *", "AWS's form is cron("],
    ["cron( 0 1 * * ? *)", "no spaces next to the parentheses"],
    ["cron(7 20 ? * NOT *)", 'day of week "NOT"'],
    ["cron(71 8 1 * ? *)", 'minute "71"'],
  ])("%s is refused", (text, expected) => {
    expect(problem(text)).toContain(expected);
  });

  test("rate is elapsed time, singular for 1 and plural above", () => {
    expect(parseRate("rate(1 minute)")).toEqual({ ok: true, expression: { form: "every", everyMs: 60_000 } });
    expect(parseRate("rate(7 days)")).toEqual({ ok: true, expression: { form: "every", everyMs: 7 * 86_400_000 } });
    for (const bad of [
      "rate(1 minutes)",
      "rate(5 hour)",
      "rate(0 minutes)",
      "rate(5 weeks)",
      "rate(3661 days)",
      " rate(1 day)",
      "rate( 1 day )",
    ]) {
      expect(parseRate(bad)).toMatchObject({ ok: false, problem: expect.stringContaining(`rate "${bad}"`) });
    }
  });

  test("at has no offset and is UTC", () => {
    expect(parseAt("at(2026-11-21T08:30:00)")).toEqual({
      ok: true,
      expression: { form: "at", at: Date.UTC(2026, 10, 21, 8, 30) },
    });
    for (const bad of [
      "at(2026-11-21)",
      "at(2026-11-21T08:30:00Z)",
      "at(2026-02-30T08:30:00)",
      "at(2026-13-01T00:00:00)",
    ]) {
      expect(parseAt(bad)).toMatchObject({ ok: false });
    }
  });
});
