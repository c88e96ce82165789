import { expect, test } from "vitest";
import { boundsOf, isWithin } from "../../src/api/scope.ts";
import { defineApp } from "../../src/define/define-app.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { registry } from "../../src/define/definition.ts";
import type { Scope } from "../../src/define/scope.ts";

const job = (id: string, lane: string) => defineJob({ id, lane, run() {} });
const apps = [
  defineApp({
    name: "shop",
    jobs: [job("pay", "money"), job("mail", "slow")],
    lanes: { money: {}, slow: {}, spare: {} },
  }),
  defineApp({ name: "ops", jobs: [job("sweep", "slow")] }),
];
const bounds = (scope?: Scope) => boundsOf(registry(apps), scope);
const shop = bounds({ apps: ["shop"] });

test("a scope has the kinds of its apps and of its lanes together", () => {
  const kinds = (scope: Scope) => bounds(scope).search.kinds?.toSorted();
  expect(kinds({ apps: ["shop"] })).toEqual(["mail", "pay"]);
  expect(kinds({ lanes: ["slow"] })).toEqual(["mail", "sweep"]);
  expect(kinds({ apps: ["ops"], lanes: ["money"] })).toEqual(["pay", "sweep"]);
  expect(kinds({ apps: ["none"] })).toEqual([]);
  expect(kinds({})).toEqual([]);
});

test("a scope has its kinds among the lanes, a lane that it names, and one of which every kind is its own, but none without kinds", () => {
  const names = ["money", "slow", "spare", "none", "kind:mail", "kind:sweep"];
  const lanes = (scope: Scope) => names.filter((name) => bounds(scope).hasLane(name));
  expect(lanes({ apps: ["shop"] })).toEqual(["money", "kind:mail"]);
  expect(lanes({ apps: ["shop", "ops"] })).toEqual(["money", "slow", "kind:mail", "kind:sweep"]);
  expect(lanes({ lanes: ["slow"] })).toEqual(["slow", "kind:mail", "kind:sweep"]);
  expect(lanes({ lanes: ["spare"] })).toEqual(["spare"]);
});

test("a search finds only what lies within", () => {
  expect([shop.search, bounds({}).search]).toEqual([{ kinds: ["pay", "mail"] }, { kinds: [] }]);
  expect([{}, { kind: "pay" }, { kind: "sweep" }].map((search) => isWithin(search, bounds()))).toEqual([
    true,
    true,
    true,
  ]);
  const asked = [
    {},
    { kind: "pay" },
    { kind: "sweep" },
    { kinds: ["pay", "mail"] },
    { kinds: ["pay", "sweep"] },
    { kinds: ["sweep"] },
  ];
  expect(asked.map((search) => isWithin(search, shop))).toEqual([false, true, false, true, false, false]);
  // The one kind that is asked for counts, not the list beside it.
  expect(isWithin({ kind: "sweep", kinds: ["pay"] }, shop)).toBe(false);
});
