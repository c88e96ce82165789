import { describe, expect, test } from "vitest";
import { defineApp } from "../../src/define/define-app.ts";
import { defineGraph } from "../../src/define/define-graph.ts";
import { defineFanOut, defineJob } from "../../src/compose/index.ts";
import { insightLimits } from "../../src/insight/insight-limits.ts";
import { graphPlan } from "../support/graph-plan.ts";
import { aRun } from "../contract/store/run-fixture.ts";
import { app, openApi, startOfTime } from "./harness.ts";
import { eachTest } from "../support/each-test.ts";

const graph = defineGraph({
  id: "report",
  version: 1,
  tasks: (task) => void task("first", { run: () => Promise.resolve(null) }),
});
const fanOut = defineFanOut({
  id: "quiz",
  from: async function* () {},
  key: () => "",
  each: defineJob({ id: "push", run() {} }),
  payload: () => undefined,
});
const apps = [app, defineApp({ name: "runs", jobs: [graph, fanOut] })];
const at = (ms: number): string => new Date(startOfTime + ms).toISOString();
const window = { from: at(-3_600_000), to: at(-1), force: true };

async function prepared() {
  const opened = await openApi(apps);
  const { store } = opened;
  const { runId: ofGraph } = await store.startRun(await graphPlan(apps, "report", { key: "r" }));
  const input = { scheduledFor: at(0), timezone: "UTC", day: "2026-11-21", isCatchUp: false, missedCount: 0 };
  const { runId: ofFanOut } = await store.startRun(aRun({ kind: "quiz", key: "q", input }));
  const send = async (path: string, body: object, key?: string) => {
    const headers = { host: "127.0.0.1", "content-type": "application/json", ...(key && { "idempotency-key": key }) };
    const sent = { method: "POST", headers, body: JSON.stringify(body) };
    const answer = await opened.api.fetch(new Request(`http://127.0.0.1${path}`, sent));
    const text = await answer.text();
    opened.documentation.check("POST", path, answer, JSON.parse(text));
    const { id, code } = JSON.parse(text) as { readonly id: string; readonly code?: string };
    return { status: answer.status, id, code, text, replayed: answer.headers.get("idempotency-replayed") };
  };
  return { ...opened, ofGraph, ofFanOut, send };
}

const opened = eachTest(prepared);

/** What each makes, and another request with the same key. */
const writes: readonly [what: string, path: string, body: object, other: object][] = [
  [
    "a bulk action",
    "/bulk",
    { action: "cancel", filter: { kind: "ping" } },
    { action: "retry", filter: { kind: "ping" } },
  ],
  ["a redrive", "/dead-letters/redrive", { filter: { kind: "ping" } }, { filter: { kind: "ping" }, pace: "1s" }],
  ["a backfill", "/schedules/ping-often/backfill", window, { ...window, to: at(-1_000_000) }],
];

const counts = async (): Promise<unknown> =>
  (
    await opened.pool.query(
      `select (select count(*) from belfry.bulk)::int as bulks, (select count(*) from belfry.run)::int as runs,
         (select count(*) from belfry.job where kind = 'quiz')::int as starters, (select count(*) from belfry.request_key)::int as keys`,
    )
  ).rows[0];

test.each(writes)("a request with a key makes %s once, however often it comes", async (what, path, body, other) => {
  const before = (await counts()) as { readonly bulks: number };
  const all = await Promise.all(Array.from({ length: 8 }, () => opened.send(path, body, what)));
  expect(new Set(all.map(({ id, status }) => `${status} ${id}`)).size).toBe(1);
  expect(all.filter(({ replayed }) => replayed === null)).toHaveLength(1);
  const again = await opened.send(path, { ...body, key: what });
  expect(again).toMatchObject({ status: 202, id: all[0]?.id, replayed: "true" });
  expect(await counts()).toMatchObject({ bulks: before.bulks + 1 });
  const conflict = await opened.send(path, other, what);
  expect(conflict).toMatchObject({ status: 409, code: "key-conflict" });
  expect(conflict.text).not.toMatch(/[0-9a-f]{12}/);
  expect(await opened.send(path, { ...body, dryRun: true }, what)).toMatchObject({ status: 200, replayed: null });
  expect(await opened.send(path, body)).toMatchObject({ status: 202, replayed: null });
});

describe("a run that is run again", () => {
  test.each(["ofGraph", "ofFanOut"] as const)("with a key is one new run: %s", async (which) => {
    const path = `/runs/${opened[which]}/rerun`;
    const all = await Promise.all(Array.from({ length: 4 }, () => opened.send(path, {}, "again")));
    expect(all.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 200, 201]);
    expect(new Set(all.map(({ id }) => id)).size).toBe(1);
    expect(await counts()).toMatchObject({ runs: 3, keys: 1 });
    const other = which === "ofGraph" ? opened.ofFanOut : opened.ofGraph;
    expect(await opened.send(`/runs/${other}/rerun`, {}, "again")).toMatchObject({ status: 409, code: "key-conflict" });
    expect(await opened.send("/bulk", writes[0]?.[2] ?? {}, "again")).toMatchObject({ status: 409 });
    expect(await counts()).toMatchObject({ runs: 3, bulks: 0 });
  });

  test.each(["ofGraph", "ofFanOut"] as const)(
    "leaves neither a run nor a key when the write ends between: %s",
    async (which) => {
      const before = await counts();
      const { within } = opened.insight;
      opened.insight.within = (tx) => ({
        ...within(tx),
        run: async (...call) => {
          await within(tx).run(...call);
          throw new Error("the process ends here");
        },
      });
      expect(await opened.send(`/runs/${opened[which]}/rerun`, {}, "again")).toMatchObject({ status: 500 });
      expect(await counts()).toEqual(before);
      opened.insight.within = within;
      expect(await opened.send(`/runs/${opened[which]}/rerun`, {}, "again")).toMatchObject({ status: 201 });
    },
  );
});

test("keys are kept for a week, and the newest alone", async () => {
  const body = writes[0]?.[2] ?? {};
  await opened.send("/bulk", body, "old");
  await opened.advance(insightLimits.requestKeysMs - 1_000);
  await opened.send("/bulk", body, "new");
  await opened.store.prune({ limit: 100 });
  expect(await counts()).toMatchObject({ keys: 2 });
  await opened.advance(2_000);
  await opened.store.prune({ limit: 100 });
  expect((await opened.pool.query("select key from belfry.request_key")).rows).toEqual([{ key: "new" }]);
  await opened.pool.query(
    `insert into belfry.request_key (key, hash, made, created_at)
     select 'k' || n, '', '1', belfry.now() + n * interval '1 ms' from generate_series(1, $1::int) n`,
    [insightLimits.requestKeysMax],
  );
  await opened.store.prune({ limit: 100 });
  expect((await opened.pool.query("select key from belfry.request_key where key in ('new', 'k1')")).rows).toEqual([
    { key: "k1" },
  ]);
});
