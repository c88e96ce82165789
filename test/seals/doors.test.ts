import { expect, test } from "vitest";
import { z } from "zod";
import { checkApps } from "../../src/define/check.ts";
import { defineApp, defineGraph, defineJob, defineSchedule } from "../../src/compose/index.ts";
import { definitionOf } from "../../src/define/define-job.ts";
import { type JobInput, newJob } from "../../src/define/new-job.ts";
import { registry } from "../../src/define/definition.ts";
import { writeKinds } from "../../src/insight/kinds.ts";
import { graphPlan } from "../support/graph-plan.ts";
import { toSettlement } from "../../src/run/settler.ts";
import { openApi } from "../api/harness.ts";
import { world } from "../core/world.ts";

const payload = z.object({ card: z.string() });
const pay = defineJob({ id: "pay", seal: "payroll", payload, run() {} });
const app = defineApp({ name: "payroll", jobs: [pay] });

test("the API seals what it is sent, shows [sealed] to every caller, and finds nothing in it", async () => {
  const { call, pool } = await openApi([app]);
  const made = await call("POST", "/jobs", { kind: "pay", payload: { card: "4111" }, key: "k" });
  expect(made).toMatchObject({ status: 201, body: { payload: "[sealed]" } });
  const again = await call("POST", "/jobs", { kind: "pay", payload: { card: "4111" }, key: "k" });
  expect(again).toMatchObject({ status: 200, body: { id: made.body.id } });
  expect(await call("POST", "/jobs", { kind: "pay", payload: { card: 1 } })).toMatchObject({ status: 422 });
  const { rows } = await pool.query<{ payload: object }>("select payload from belfry.job");
  expect(rows.map((row) => JSON.stringify(row.payload))).toEqual([
    expect.stringMatching(/^\{"\$sealed":"v1\.payroll\./),
  ]);
  expect((await call("GET", "/jobs?payload.card=4111")).body.jobs).toEqual([]);
  expect((await call("GET", `/jobs/${made.body.id}`)).body.payload).toBe("[sealed]");
});

test("a schedule's payload that would be stored as it is, is refused, in code and by the API", async () => {
  const fixed = defineSchedule({
    id: "nightly",
    cron: "0 3 * * *",
    timezone: "UTC",
    run: pay,
    payload: { card: "4111" },
  });
  const problems = checkApps([defineApp({ name: "payroll", jobs: [], schedules: [fixed] })], "dev");
  expect(problems.map(({ field, rule }) => `${field} ${rule}`)).toEqual([
    "payload would be stored as it is, and its job seals it",
  ]);
  expect(problems.map(({ value }) => value)).toEqual(['"(value)"']);
  const { call } = await openApi([app]);
  const refused = await call("POST", "/schedules", {
    id: "nightly",
    kind: "pay",
    cron: "0 3 * * *",
    timezone: "UTC",
    payload: { card: "4111" },
  });
  expect(refused.status).toBe(422);
  expect(JSON.stringify(refused.body)).toContain("its job seals it");
});

test("a row and a result that a way forgot to seal are refused before a store has them", () => {
  const row = { payload: { card: "4111" } } as Partial<JobInput> as JobInput;
  expect(() => newJob(definitionOf(pay), row)).toThrow('the payload of "pay" is not sealed: this is a defect');
  const ended = { kind: "pay" } as Parameters<typeof toSettlement>[2];
  const outcome = { is: "success", result: { card: "4111" } } as const;
  const settle = () => toSettlement(world(), registry([app]), ended, { outcome, children: [] });
  expect(settle).toThrow('the result of "pay" is not sealed: this is a defect');
});

test("SQL cannot seal, and says so; what it wrote for the release before the seal needs the right to reveal", async () => {
  const caller = { name: "support", role: "operate", hides: true } as const;
  const { call, pool, insight } = await openApi([app], { caller });
  const before = defineApp({ name: "payroll", jobs: [defineJob({ id: "pay", payload, run() {} })] });
  await insight.run(writeKinds, registry([before]));
  await pool.query(`select belfry.enqueue('pay', '{"card": "4111"}')`);
  const { rows } = await pool.query<{ id: string }>("select id from belfry.job");
  const shown = JSON.stringify((await call("GET", `/jobs/${rows[0]?.id}`)).body);
  expect(shown).toContain('"kind":"pay"');
  expect(shown).not.toContain("4111");
  await insight.run(writeKinds, registry([app]));
  await expect(pool.query(`select belfry.enqueue('pay', '{"card": "4111"}')`)).rejects.toThrow(
    "its payload is sealed, and SQL has no key",
  );
});

test("a hook that would run where no key is, and a name that is none, are refused", () => {
  const hooked = defineJob({ id: "hooked", seal: "Pay Roll", payload, run() {}, async onSettled() {} });
  const held = defineJob({
    id: "held",
    seal: "payroll",
    payload,
    debounce: { key: ({ card }) => card, for: "1m", keep: (_, next) => next },
    run() {},
  });
  const problems = checkApps([defineApp({ name: "payroll", jobs: [hooked, held] })], "dev");
  expect(problems.map(({ field }) => field)).toEqual(["seal", "onSettled", "debounce.keep"]);
});

test("a second signal is refused and says that nothing was compared, also when its payload is the same", async () => {
  const graph = defineGraph({
    id: "payday",
    version: 1,
    seal: "payroll",
    tasks: (task) => void task.waitFor("approved", { payload, timeout: "1d" }),
  });
  const apps = [defineApp({ name: "payroll", jobs: [graph] })];
  const { call, store } = await openApi(apps);
  const { runId } = await store.startRun(await graphPlan(apps, "payday"));
  const signal = () => call("POST", `/runs/${runId}/signals/approved`, { payload: { card: "4111" } });
  expect(await signal()).toMatchObject({ status: 200 });
  const again = await signal();
  expect(again).toMatchObject({ status: 409, body: { code: "signal-conflict" } });
  expect(again.body.detail).toContain(", and what is sealed is not compared: a task takes one");
});
