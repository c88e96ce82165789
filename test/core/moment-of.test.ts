import { describe, expect, test } from "vitest";
import type { Context } from "../../src/core/define/context.ts";
import type { JobId } from "../../src/core/job/job.ts";
import type { InvocationScope } from "../../src/core/work/invocation-scope.ts";
import { momentOf } from "../../src/core/work/moment-of.ts";
import { aClaimed } from "./rows.ts";

/** A quarter of an hour before midnight in UTC, when it is the next day in Seoul and the same in New York. */
const at = new Date("2031-05-06T23:45:00Z");
const context = { scheduledFor: at, isCatchUp: true, missedCount: 2 } as Context;

const occurrence = (jobId: string, localTime: string, timezone: string) => ({
  jobId: jobId as JobId,
  localTime,
  timezone,
});

/** The moment of job 7, and what the store was asked for it. */
async function moment(
  scheduleId: string | null,
  {
    occurrences = [],
    zone,
    payload = null,
  }: { occurrences?: readonly object[]; zone?: string | null; payload?: object | null } = {},
) {
  const asked: unknown[] = [];
  const row = zone == null ? null : { spec: { timezone: zone } };
  const store = {
    async occurrencesBetween(...given: unknown[]) {
      asked.push(given.slice(0, 3));
      return occurrences;
    },
    async scheduleFacts(id: string) {
      asked.push(id);
      return zone === undefined ? null : { row };
    },
  };
  const job = aClaimed("7", { scheduleId, payload: payload as never });
  const scope = { job, worker: { ports: { store } } } as unknown as InvocationScope;
  const { day, timezone, ...rest } = await momentOf(scope, context);
  return { day, timezone, rest, asked };
}

const rest = { scheduledFor: at, isCatchUp: true, missedCount: 2 };

describe("the day of a job is", () => {
  test("that of UTC without a schedule, which asks nothing", async () => {
    expect(await moment(null)).toEqual({ day: "2031-05-06", timezone: "UTC", rest, asked: [] });
  });

  test("that of its own occurrence, though the schedule has moved to another zone", async () => {
    const occurrences = [
      occurrence("6", "2031-05-06T18:45:00", "America/Bogota"),
      occurrence("7", "2031-05-07T08:45:00", "Asia/Seoul"),
    ];
    const { day, timezone, asked } = await moment("nightly", { occurrences, zone: "America/New_York" });
    expect([day, timezone]).toEqual(["2031-05-07", "Asia/Seoul"]);
    expect(asked).toEqual([["nightly", at.getTime(), at.getTime()]]);
  });

  test.each<[string, string | null | undefined, string, string]>([
    ["its schedule's zone", "Asia/Seoul", "2031-05-07", "Asia/Seoul"],
    ["its schedule's zone", "America/New_York", "2031-05-06", "America/New_York"],
    ["UTC, when the schedule was deleted", null, "2031-05-06", "UTC"],
    ["UTC, when there is no schedule of that id", undefined, "2031-05-06", "UTC"],
  ])("that of %s, when its occurrence was pruned: %s", async (_, zone, day, timezone) => {
    const occurrences = [occurrence("6", "2031-05-06T18:45:00", "America/Bogota")];
    const options = zone === undefined ? { occurrences } : { occurrences, zone };
    expect(await moment("nightly", options)).toMatchObject({
      day,
      timezone,
      rest,
      asked: [expect.anything(), "nightly"],
    });
  });

  test("the one in its payload, which asks nothing", async () => {
    const payload = {
      moment: {
        scheduledFor: at.toISOString(),
        day: "2031-05-05",
        timezone: "Asia/Tokyo",
        isCatchUp: false,
        missedCount: 0,
      },
    };
    const { day, timezone, asked } = await moment("nightly", { payload });
    expect([day, timezone, asked]).toEqual(["2031-05-05", "Asia/Tokyo", []]);
  });
});
