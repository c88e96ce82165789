import { expect, test } from "vitest";
import type { ApiOptions } from "../../src/api/options.ts";
import { HttpProblem } from "../../src/api/problem.ts";
import {
  type About,
  boundsOf,
  confine,
  isWithin,
  ofJob,
  ofRun,
  ofSchedule,
  type ScopeRule,
} from "../../src/api/scope.ts";
import { defineApp } from "../../src/define/define-app.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { registry } from "../../src/define/definition.ts";
import type { Scope } from "../../src/define/scope.ts";
import type { JobId } from "../../src/machine/job.ts";
import { insightStub } from "../support/insight-stub.ts";

const job = (id: string, lane: string) => defineJob({ id, lane, run() {} });
const apps = [
  defineApp({
    name: "shop",
    jobs: [job("pay", "money"), job("mail", "slow")],
    lanes: { money: {}, slow: {}, spare: {} },
  }),
  defineApp({ name: "ops", jobs: [job("sweep", "slow")] }),
];
const bounds = (scope: Scope) => boundsOf(registry(apps), scope);
const shop = bounds({ apps: ["shop"] });
const none = { query: undefined, body: undefined };

type Given = typeof none | { readonly query?: unknown; readonly body?: unknown };

async function refusal(rule: ScopeRule<never>, asked: Given = none): Promise<string | null> {
  try {
    await confine(rule as ScopeRule<{ query: unknown; body: unknown }>, { ...none, ...asked }, shop);
    return null;
  } catch (error) {
    if (!(error instanceof HttpProblem)) throw error;
    return `${error.status} ${error.message}`;
  }
}

const about =
  (what: About | null): ScopeRule<never> =>
  () =>
    what;
const start = "403 you may see and change only some apps or lanes: ";

test("a scope has the kinds of its apps and of its lanes together", () => {
  const kinds = (scope: Scope): readonly string[] => [...bounds(scope).kinds].toSorted();
  expect(kinds({ apps: ["shop"] })).toEqual(["mail", "pay"]);
  expect(kinds({ lanes: ["slow"] })).toEqual(["mail", "sweep"]);
  expect(kinds({ apps: ["ops"], lanes: ["money"] })).toEqual(["pay", "sweep"]);
  expect(kinds({ apps: ["none"] })).toEqual([]);
  expect(kinds({})).toEqual([]);
});

test("a scope has a lane that it names, and one of which every kind is its own, but no lane without kinds", () => {
  const lanes = (scope: Scope) => ["money", "slow", "spare", "none"].filter((name) => bounds(scope).hasLane(name));
  expect(lanes({ apps: ["shop"] })).toEqual(["money"]);
  expect(lanes({ apps: ["shop", "ops"] })).toEqual(["money", "slow"]);
  expect(lanes({ lanes: ["slow"] })).toEqual(["slow"]);
  expect(lanes({ lanes: ["spare"] })).toEqual(["spare"]);
});

test.each<[string, ScopeRule<never>, Given, string | null]>([
  ["what shows nothing of a job", "nothing", none, null],
  ["what shows nothing of a job, whatever is asked", "nothing", { query: { kind: "sweep" } }, null],
  ["what is about the whole stage", "everything", none, "this is about the whole stage"],
  ["a request that finds out so", about("everything"), none, "this is about the whole stage"],
  ["what is not there, which its handler says", about(null), none, null],
  ["its own kind", about({ kinds: ["pay"] }), none, null],
  ["all of its own kinds", about({ kinds: ["pay", "mail"] }), none, null],
  ["another's kind", about({ kinds: ["sweep"] }), none, 'the kind "sweep" is not among them'],
  ["another's kind behind its own", about({ kinds: ["pay", "sweep"] }), none, 'the kind "sweep" is not among them'],
  [
    "a kind of any length",
    about({ kinds: ["x".repeat(300)] }),
    none,
    `the kind "${"x".repeat(100)}" is not among them`,
  ],
  ["its own lane", about({ lane: "money" }), none, null],
  ["a lane that it shares", about({ lane: "slow" }), none, 'the lane "slow" is not among them'],
  ["a list", "list", none, null],
  ["a list of its own kind", "list", { query: { kind: "pay" } }, null],
  ["a list of another's kind", "list", { query: { kind: "sweep" } }, 'the kind "sweep" is not among them'],
  ["a list whose kind is none", "list", { query: { kind: 5 } }, null],
  ["a change of its own kind", "list", { body: { filter: { kind: "pay" } } }, null],
  ["a change of another's kind", "list", { body: { filter: { kind: "sweep" } } }, 'the kind "sweep" is not among them'],
  [
    "a change whose query names another's",
    "list",
    { query: { kind: "sweep" }, body: { filter: { kind: "pay" } } },
    'the kind "sweep" is not among them',
  ],
  ["a change without a filter", "list", { body: {} }, null],
  [
    "a filter's kind, where the rule is the whole stage",
    "everything",
    { query: { kind: "pay" } },
    "this is about the whole stage",
  ],
])("a caller of a part asks for %s", async (_, rule, asked, why) => {
  expect(await refusal(rule, asked)).toBe(why === null ? null : `${start}${why}`);
});

test("a search finds only what lies within", () => {
  expect([shop.search, bounds({}).search]).toEqual([{ kinds: ["pay", "mail"] }, { kinds: [] }]);
  expect([{}, { kind: "pay" }, { kind: "sweep" }].map((search) => isWithin(search, null))).toEqual([true, true, true]);
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

test("a request is about the kind of its job, its run, or its schedule: the one it has, the one it had, and the one it gets", async () => {
  const version = (kind: string | null) => ({ spec: kind === null ? null : { job: { kind } } });
  const schedules: Record<string, unknown> = {
    now: { row: version("pay"), versions: [version("mail")] },
    gone: { row: null, versions: [version("mail"), version("sweep"), version(null)] },
    empty: { row: null, versions: [] },
  };
  const options = {
    insight: insightStub({
      run: (id: string) => (id === "1" ? { kind: "mail" } : null),
      records: ({ ids }: { ids: readonly string[] }) => (ids.includes("1") ? { id: "1", kind: "pay" } : null),
    }),
    ports: {
      store: {
        scheduleFacts: (id: string) => Promise.resolve(schedules[id] ?? null),
      },
    },
  } as unknown as ApiOptions;
  const named = (id: string) => ({ params: { id: id as JobId } });
  const missing = (code: string) => expect.objectContaining({ code, status: 404 }) as unknown;
  expect([await ofJob(options)(named("1")), await ofJob(options)(named("2"))]).toEqual([
    { kinds: ["pay"], missing: missing("unknown-job") },
    null,
  ]);
  expect([await ofRun(options)(named("1")), await ofRun(options)(named("2"))]).toEqual([
    { kinds: ["mail"], missing: missing("unknown-run") },
    null,
  ]);
  const of = async (id: string, body?: unknown) => await ofSchedule(options)({ params: { id }, body });
  expect(await of("now")).toEqual({ kinds: ["pay"] });
  expect(await of("now", { kind: "sweep" })).toEqual({ kinds: ["pay", "sweep"] });
  expect(await of("now", { kind: 5 })).toEqual({ kinds: ["pay"] });
  expect(await of("gone")).toEqual({ kinds: ["sweep"] });
  expect([await of("empty"), await of("none")]).toEqual([null, null]);
  expect(await of("none", { kind: "sweep" })).toEqual({ kinds: ["sweep"] });
});
