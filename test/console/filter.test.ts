import { describe, expect, it, onTestFinished, vi } from "vitest";
import { edgesOf } from "../../src/console/filter/range.ts";
import { completeTerm, withTerm } from "../../src/console/filter/terms.ts";
import { suggest } from "../../src/console/jobs/completion.ts";
import { parseFilter, queryOf } from "../../src/console/jobs/filter.ts";

const now = Date.UTC(2026, 10, 21, 12);
const asked = (text: string) => queryOf(parseFilter(text), now);
const known = { kinds: ["send mail", "export"], lanes: ["mail"], errors: ["HTTP_503"], schedules: [] };

describe("the filter of the jobs", () => {
  it("asks the API for each of its terms", () => {
    expect(asked('state:failed,skipped kind:"send mail" payload.userId:42 error:HTTP_503')).toEqual({
      state: "FAILED,SKIPPED",
      kind: "send mail",
      "payload.userId": "42",
      error: "HTTP_503",
    });
  });

  it.each([
    ["due:past", { dueTo: "2026-11-21T12:00:00.000Z" }],
    ["due:<1h", { dueFrom: "2026-11-21T12:00:00.000Z", dueTo: "2026-11-21T13:00:00.000Z" }],
    ["due:>10m", { dueFrom: "2026-11-21T12:10:00.000Z" }],
    ["ended:<12h", { endedFrom: "2026-11-21T00:00:00.000Z", endedTo: "2026-11-21T12:00:00.000Z" }],
    ["created:>1d", { createdTo: "2026-11-20T12:00:00.000Z" }],
    [
      "ended:last-night",
      { endedFrom: new Date(2026, 10, 20, 18).toISOString(), endedTo: new Date(2026, 10, 21, 9).toISOString() },
    ],
    ["took:>10s attempt:>1", { tookFrom: "10s", attemptFrom: "2" }],
    ["took:1s..10s attempt:2", { tookFrom: "1s", tookTo: "10s", attemptFrom: "2", attemptTo: "2" }],
    [
      "due:2026-11-20T00:00:00Z..2026-11-21T00:00:00Z",
      { dueFrom: "2026-11-20T00:00:00.000Z", dueTo: "2026-11-21T00:00:00.000Z" },
    ],
  ])("reads %s from now on", (text, query) => {
    expect(asked(text)).toEqual(query);
  });

  it.each([
    ["id:abc", "is no number"],
    ["lane:default", "comes twice"],
    ["sate:failed", "is no field"],
    ["state:broken", "is no state"],
    ["kind:", "has no value"],
    ["due:soon", "write due:past"],
    ["took:long", "took:>10s"],
    ["attempt:many", "attempt:>1"],
    ["ended:soon", "ended:last-night"],
    ["ended:2026-11-21..2026-11-20", "earlier..later"],
  ])("says what is wrong with %s", (text, problem) => {
    const { problems } = parseFilter(`lane:mail ${text}`);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(problem);
  });

  it.each([
    ["yesterday", "2026-10-25T23:30+01:00", "2026-10-24T00:00+02:00", "2026-10-25T00:00+02:00"],
    ["today", "2026-10-25T23:30+01:00", "2026-10-25T00:00+02:00", "2026-10-26T00:00+01:00"],
    ["last-night", "2026-10-25T23:30+01:00", "2026-10-24T18:00+02:00", "2026-10-25T09:00+01:00"],
    ["yesterday", "2026-03-30T00:30+02:00", "2026-03-29T00:00+01:00", "2026-03-30T00:00+02:00"],
  ])("reads %s at %s by the days of a clock that changes", (day, at, from, to) => {
    vi.stubEnv("TZ", "Europe/Berlin");
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(edgesOf(day, Date.parse(at))).toEqual([Date.parse(from), Date.parse(to)]);
  });

  it("searches for words without a field", () => {
    expect(asked('state:failed orders-97 "no disk"')).toEqual({ state: "FAILED", text: "orders-97 no disk" });
  });

  it("replaces one term and keeps the others", () => {
    expect(withTerm("state:failed lane:mail", "state", "success")).toBe("lane:mail state:success");
    expect(withTerm("state:failed lane:mail", "state", null)).toBe("lane:mail");
  });

  it("completes fields, then values, and quotes those with blanks", () => {
    const [field] = suggest("ki", known);
    expect(field?.word).toBe("kind:");
    const [kind] = suggest("kind:send", known);
    expect(kind?.word).toBe('kind:"send mail"');
    expect(completeTerm("lane:mail kind:send", { word: 'kind:"send mail"', hint: "" })).toBe(
      'lane:mail kind:"send mail" ',
    );
    expect(suggest("state:failed,ski", known).map(({ word }) => word)).toEqual(["state:failed,skipped"]);
  });
});
