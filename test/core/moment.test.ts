import { describe, expect, test } from "vitest";
import type { Json } from "../../src/core/job/job.ts";
import {
  isMomentPayload,
  momentInPayload,
  momentJson,
  momentPayload,
  readMoment,
} from "../../src/core/define/moment.ts";

const moment = {
  scheduledFor: new Date("2026-03-01T08:00:00.000Z"),
  day: "2026-03-01",
  timezone: "Asia/Seoul",
  isCatchUp: true,
  missedCount: 3,
};
const stored = { ...moment, scheduledFor: "2026-03-01T08:00:00.000Z" };

describe("a stored moment", () => {
  test("is read as it was written", () => {
    expect(readMoment(momentJson(moment))).toEqual(moment);
    expect(momentInPayload(momentPayload(moment))).toEqual(moment);
  });

  test.each<[string, Json, object]>([
    ["no count of missed times", { ...stored, missedCount: null }, { missedCount: 0 }],
    ["a count in words", { ...stored, missedCount: "3" }, { missedCount: 0 }],
    ["no word of catching up", { ...stored, isCatchUp: null }, { isCatchUp: false }],
    ["a word in place of true", { ...stored, isCatchUp: "yes" }, { isCatchUp: false }],
  ])("with %s has the default", (_, json, expected) => {
    expect(readMoment(json)).toEqual({ ...moment, ...expected });
  });

  test.each<[string, Json]>([
    ["null", null],
    ["a text", "2026-03-01T08:00:00.000Z"],
    ["a number", 7],
    ["a list", [stored]],
    ["an empty object", {}],
    ["an instant in words", { ...stored, scheduledFor: "tomorrow" }],
    ["an instant as a number", { ...stored, scheduledFor: 2026 }],
    ["a day as a number", { ...stored, day: 20_260_301 }],
    ["no zone", { ...stored, timezone: null }],
  ])("is not %s", (_, json) => {
    expect(readMoment(json)).toBeNull();
    expect(momentInPayload({ moment: json })).toBeNull();
    expect(isMomentPayload({ moment: json })).toBe(false);
  });
});

describe("the payload of a fan-out or sweep", () => {
  test.each<[string, unknown]>([
    ["undefined", undefined],
    ["null", null],
    ["a moment", { moment: stored }],
  ])("may be %s", (_, payload) => {
    expect(isMomentPayload(payload)).toBe(true);
  });

  test.each<[string, Json]>([
    ["an empty object", {}],
    ["a bare moment", stored],
    ["a text", "moment"],
    ["a number", 0],
    ["a list", []],
  ])("may not be %s", (_, payload) => {
    expect(isMomentPayload(payload)).toBe(false);
    expect(momentInPayload(payload)).toBeNull();
  });
});
