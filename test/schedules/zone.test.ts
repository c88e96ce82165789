import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { imageTzVersion, openZone, storedTzVersion, zoneProblem } from "../../src/calendar/zone.ts";
import { intlOffset } from "./clock.ts";

const at = (text: string): number => Date.parse(text);

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

const from = Date.UTC(1900, 0, 1);
const until = Date.UTC(2038, 0, 1);

/** Zones with many changes, with two in a month, with odd minutes and seconds, and with a day left out. */
test.each([
  "America/New_York",
  "Europe/London",
  "Africa/Casablanca",
  "Asia/Seoul",
  "Australia/Lord_Howe",
  "America/Sao_Paulo",
  "Pacific/Apia",
  "Africa/Monrovia",
])("the changes of %s follow each other, each at the very millisecond where the platform's clock changes", (name) => {
  const zone = openZone(name);
  const changes = zone.transitions(from, until);
  let offset = intlOffset(name, from);
  for (const { at, before, after } of changes) {
    expect([at, before, after]).toEqual([at, offset, intlOffset(name, at)]);
    expect([at, intlOffset(name, at - 1), after === before]).toEqual([at, before, false]);
    expect([zone.offsetAt(at - 1), zone.offsetAt(at)]).toEqual([before, after]);
    offset = after;
  }
  expect(intlOffset(name, until)).toBe(offset);
  expect(changes.map(({ at }) => at)).toEqual([...new Set(changes.map(({ at }) => at))].toSorted((a, b) => a - b));
  // Each window answers its own part of them, also one that begins or ends at a change or at a chunk's edge.
  const chunkMs = 2 ** 33;
  const edges = [0, 1, 60, 200].map((chunk) => chunk * chunkMs).concat(changes.slice(0, 12).map(({ at }) => at));
  for (const start of edges)
    for (const end of edges)
      expect(zone.transitions(start, end)).toEqual(changes.filter(({ at }) => at > start && at <= end));
});

test("years of changes are as many as the law made", () => {
  const countIn = (name: string, first: number, last: number): number =>
    openZone(name).transitions(Date.UTC(first, 0, 1), Date.UTC(last + 1, 0, 1)).length;
  expect([countIn("Europe/London", 1972, 2025), countIn("America/New_York", 1967, 2025)]).toEqual([108, 118]);
});

test("a zone is opened once, and UTC needs no data", () => {
  expect(openZone("Asia/Seoul")).toBe(openZone("Asia/Seoul"));
  expect(openZone("UTC")).toMatchObject({ name: "UTC" });
  expect(openZone("UTC").offsetAt(until)).toBe(0);
  expect(openZone("UTC").transitions(-8.64e15, 8.64e15)).toEqual([]);
  expect(["", "2026b", imageTzVersion, "2026d"].map(storedTzVersion)).toEqual([
    "",
    "2026b",
    imageTzVersion,
    imageTzVersion,
  ]);
});

test.each<[string, string | null]>([
  ["rome", "Europe/Rome"],
  ["nome", "America/Nome"],
  ["Rmoe", null],
  ["Rom", "Europe/Rome"],
  ["utx", "UTC"],
  ["Berlxx", null],
  ["Berlinx", "Europe/Berlin"],
  ["Brisbxxe", "Australia/Brisbane"],
  ["Brisxxxe", null],
  ["Helsixxi", "Europe/Helsinki"],
  ["Lisbxx", null],
  ["Asuncixx", "America/Asuncion"],
  ["Asuncxx", null],
  ["america/new york", "America/New_York"],
  ["Asia/Soeul", "Asia/Seoul"],
  ["KST", null],
  ["Mars/Phobos", null],
  ["", null],
])("for %s it suggests %s", (name, meant) => {
  const hint = meant === null ? "; write a name such as Asia/Seoul or UTC" : `; did you mean ${meant}?`;
  expect(zoneProblem(name)).toBe(`timezone "${name}": is not an IANA time zone${hint}`);
});

test("an offset is no zone, and the names and aliases of the platform are", () => {
  for (const name of ["+09:00", "UTC+9"]) expect(() => openZone(name)).toThrow("is an offset");
  for (const name of ["UTC", "Asia/Seoul", "US/Eastern", "Etc/GMT-9", "Asia/Calcutta"])
    expect(zoneProblem(name)).toBeNull();
});
