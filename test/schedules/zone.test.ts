import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { imageTzVersion, openZone, storedTzVersion, zoneProblem } from "../../src/core/calendar/zone.ts";
import { intlOffset } from "./clock.ts";

const at = (text: string): number => Date.parse(text);
const hour = 3_600_000;

describe("the version of the tz data", () => {
  const root = new URL("../../", import.meta.url);
  const read = (name: string): string => readFileSync(new URL(name, root), "utf8");
  const pinned = /^ARG NODE_IMAGE=\S+\/node:([\d.]+)-slim@/m.exec(read("Dockerfile"))?.[1];

  test("of the scheduler's image is known, so that a Node of Lambda that is ahead of it stores none the image would refuse", () => {
    const { optionalDependencies: node } = JSON.parse(read("package.json")) as { optionalDependencies: object };
    expect(Object.values(node).includes(pinned)).toBe(true);
    expect(storedTzVersion("2999z")).toBe(imageTzVersion);
    expect(storedTzVersion("2020a")).toBe("2020a");
  });

  test.runIf(process.version === `v${pinned}`)("of the image's Node is what this says", () => {
    expect(imageTzVersion).toBe(process.versions.tz);
  });
});

describe("transitions", () => {
  test.each([
    ["America/New_York", "2026-03-08T07:00Z", -5, -4],
    ["America/New_York", "2026-11-01T06:00Z", -4, -5],
    ["Europe/London", "2026-03-29T01:00Z", 0, 1],
    ["Australia/Lord_Howe", "2026-04-04T15:00Z", 11, 10.5],
    ["Australia/Lord_Howe", "2026-10-03T15:30Z", 10.5, 11],
    ["Pacific/Apia", "2011-12-30T10:00Z", -10, 14],
    ["Asia/Seoul", "1988-05-07T17:00Z", 9, 10],
    ["Asia/Seoul", "1988-10-08T17:00Z", 10, 9],
    ["Asia/Pyongyang", "2015-08-14T15:00Z", 9, 8.5],
  ])("%s at %s goes from %d to %d hours", (name, utc, before, after) => {
    const instant = at(utc);
    const zone = openZone(name);
    expect(zone.transitions(instant - hour, instant + hour)).toEqual([
      { at: instant, before: before * hour, after: after * hour },
    ]);
    expect(zone.offsetAt(instant - 1)).toBe(before * hour);
    expect(zone.offsetAt(instant)).toBe(after * hour);
  });

  test("the window is open at its start and closed at its end", () => {
    const instant = at("2026-03-08T07:00Z");
    const zone = openZone("America/New_York");
    expect(zone.transitions(instant, instant + hour)).toEqual([]);
    expect(zone.transitions(instant - 1, instant)).toHaveLength(1);
    expect(zone.transitions(at("2020-01-01T00:00Z"), at("2030-01-01T00:00Z"))).toHaveLength(20);
  });

  test("a zone without changes has none", () => {
    expect(openZone("Asia/Seoul").transitions(at("2000-01-01T00:00Z"), at("2040-01-01T00:00Z"))).toEqual([]);
    expect(openZone("UTC").transitions(0, at("2040-01-01T00:00Z"))).toEqual([]);
  });
});

test("offsets are those of the platform, at any instant of any zone", () => {
  const zone = fc.constantFrom(...Intl.supportedValuesOf("timeZone"));
  const instant = fc.integer({ min: at("1900-01-01T00:00Z") / 60_000, max: at("2045-01-01T00:00Z") / 60_000 });
  fc.assert(
    fc.property(zone, instant, (name, minute) => {
      expect(openZone(name).offsetAt(minute * 60_000)).toBe(intlOffset(name, minute * 60_000));
    }),
    { numRuns: 2_000 },
  );
});

describe("an unknown zone is refused with a suggestion", () => {
  test.each([
    ["Asia/Soeul", "did you mean Asia/Seoul?"],
    ["seoul", "did you mean Asia/Seoul?"],
    ["America/New York", "did you mean America/New_York?"],
    ["Mars/Phobos", "write a name such as Asia/Seoul or UTC"],
    ["", "is not an IANA time zone"],
    ["+09:00", "is an offset"],
    ["UTC+9", "is an offset"],
    ["x".repeat(10_000), "is not an IANA time zone"],
  ])("%s", (name, expected) => {
    expect(zoneProblem(name)).toContain(expected);
    expect(() => openZone(name)).toThrow(expected);
  });

  test("names and aliases of the platform are accepted", () => {
    for (const name of ["UTC", "Asia/Seoul", "US/Eastern", "Etc/GMT-9", "Asia/Calcutta"])
      expect(zoneProblem(name)).toBeNull();
  });
});
