import { expect, test } from "vitest";
import { checkApps } from "../../src/define/check.ts";
import { defineApp } from "../../src/define/define-app.ts";
import { defineJob, definitionOf } from "../../src/define/define-job.ts";
import { defineLimit, type Limit } from "../../src/define/limit.ts";
import { slotKeysFor } from "../../src/define/new-job.ts";
import { describe as line } from "../../src/define/problem.ts";

const rate = { limit: 100, per: "1s" } as const;
const stripe = defineLimit("stripe", { rate, concurrency: 10 });
const tenants = defineLimit("tenants", { rate, concurrency: 5, byKey: true });
const jobWith = (limits: unknown, more: object = {}) =>
  defineJob({ id: "a", run: () => {}, limits: limits as never, ...more });

test.each<[object, string]>([
  [{}, 'rate (missing) is needed, or concurrency; write { rate: { limit: 100, per: "1s" } }'],
  [
    { concurrency: 0 },
    "concurrency 0 must be a whole number from 1 to 10000; change it, or leave it out for the default",
  ],
  [{ rate: { limit: 5, per: "1ms" } }, 'rate.per "1ms" must be at least 1s; use a longer one'],
  [{ rate, key: 1 }, "key 1 is not known; use rate, concurrency, byKey"],
  [{ rate: { ...rate, key: 1 } }, "rate.key 1 belongs to the job; write byKey: true here"],
])("a limit may not be %j", (options, expected) => {
  const limit = defineLimit("stripe", options);
  expect(limit.problems.map(line)).toContain(`limit "stripe": ${expected}`);
  expect(checkApps([defineApp({ name: "x", limits: [limit] })], "dev")).toEqual(limit.problems);
  expect(definitionOf(jobWith([limit])).problems).toEqual(limit.problems);
});

test.each<[unknown, string]>([
  ["stripe", 'limits "stripe" must be limits; write limits: [stripe], with what defineLimit made'],
  [["stripe"], 'limits "stripe" must be limits; write limits: [stripe], with what defineLimit made'],
  [[null], "limits null must be limits; write limits: [stripe], with what defineLimit made"],
  [[stripe, stripe], 'limits "stripe" is named twice; leave one out'],
  [
    [tenants],
    "limits tenants (missing) is by key, and its key is no function of the payload; write { limit, key: (payload) => payload.customer }",
  ],
  [
    [{ limit: stripe, key: String }],
    "limits stripe function String() { [native code] } is not by key; name the limit alone",
  ],
])("the limits of a job may not be %j", (limits, expected) => {
  expect(definitionOf(jobWith(limits)).problems.map(line)).toEqual([`job "a": ${expected}`]);
});

test("a job has at most four units with those of its limits", () => {
  const four = { concurrency: 2, rate };
  expect(definitionOf(jobWith([stripe], four)).problems).toEqual([]);
  expect(definitionOf(jobWith([stripe], { ...four, lock: {} })).problems.map(line)).toEqual([
    'job "a": limits "cap:a, cap:@stripe, rate:a, rate:@stripe, lock:a" needs 5 units with those of concurrency, rate and lock; at most 4; leave some out, or share a limit',
  ]);
});

test("jobs that name a limit need the same units, by key those of their payload", () => {
  const use = { limit: tenants, key: (payload: unknown) => String(payload) };
  expect(definitionOf(jobWith([stripe])).slotGroups).toEqual([
    { key: "cap:@stripe", size: 10, onRefusal: "hold", reason: "slot" },
    { key: "rate:@stripe", size: 100, windowMs: 1_000, onRefusal: "hold", reason: "slot" },
  ]);
  expect(slotKeysFor(definitionOf(jobWith([use])), "acme")).toEqual(["cap:@tenants#acme", "rate:@tenants#acme"]);
  expect(() => slotKeysFor(definitionOf(jobWith([use])), "")).toThrow(/limits tenants\.key: answered ""/);
});

test("a limit has one setting in a release", () => {
  const problems = (other: Limit) => {
    const apps = [defineApp({ name: "x", jobs: [jobWith([stripe])] }), defineApp({ name: "y", limits: [other] })];
    return checkApps(apps, "dev").map(line);
  };
  expect(problems(defineLimit("stripe", { rate, concurrency: 10 }))).toEqual([]);
  expect(problems(defineLimit("stripe", { rate }))).toEqual([
    'limit "stripe": name "stripe" has 2 settings; define it once, and import it',
  ]);
});
