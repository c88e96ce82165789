import { expect, test } from "vitest";
import { editDistance } from "../../src/core/calendar/edit-distance.ts";
import { madeOnce } from "../../src/core/calendar/made-once.ts";
import { imageTzVersion, openZone, storedTzVersion, zoneProblem } from "../../src/core/calendar/zone.ts";
import { intlOffset } from "./clock.ts";

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
])("for %s it suggests %s", (name, meant) => {
  const hint = meant === null ? "; write a name such as Asia/Seoul or UTC" : `; did you mean ${meant}?`;
  expect(zoneProblem(name)).toBe(`timezone "${name}": is not an IANA time zone${hint}`);
});

/** By the definition: the fewest letters to insert, remove or change, found by trying each. */
function byHand(a: string, b: string): number {
  if (a === "" || b === "") return a.length + b.length;
  const [restA, restB] = [a.slice(1), b.slice(1)];
  if (a[0] === b[0]) return byHand(restA, restB);
  return 1 + Math.min(byHand(restA, restB), byHand(restA, b), byHand(a, restB));
}

test("the distance of two words is the fewest letters to change, for all short words", () => {
  const words = [0, 1, 2, 3].flatMap((length) =>
    Array.from({ length: 3 ** length }, (_, n) =>
      [...Array(length).keys()].map((k) => "abc"[Math.floor(n / 3 ** k) % 3]).join(""),
    ),
  );
  expect(words).toHaveLength(40);
  for (const a of words) for (const b of words) expect([a, b, editDistance(a, b)]).toEqual([a, b, byHand(a, b)]);
});

test("what is cached is made once, until the cache is full and forgets all", () => {
  const cache = new Map<string, { readonly key: string }>();
  const made: string[] = [];
  const ask = (key: string) =>
    madeOnce(cache, 2, key, () => {
      made.push(key);
      return { key };
    });
  expect(ask("a")).toBe(ask("a"));
  ask("b");
  ask("a");
  expect(made).toEqual(["a", "b"]);
  expect(ask("c")).toEqual({ key: "c" });
  expect([...cache.keys()]).toEqual(["c"]);
  ask("a");
  expect(made).toEqual(["a", "b", "c", "a"]);
});
