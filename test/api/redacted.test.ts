import { expect, test } from "vitest";
import { z } from "zod";
import { type Caller, signedCaller } from "../../src/api/caller.ts";
import { sensitiveKinds } from "../../src/api/sensitive.ts";
import { defineApp } from "../../src/define/define-app.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { registry } from "../../src/define/definition.ts";
import { hidingLog } from "../../src/aws/telemetry/log.ts";
import type { RouteContext } from "../../src/define/routes.ts";
import type { Log } from "../../src/machine/ports.ts";
import { app, openApi } from "./harness.ts";
import { plantJobs } from "../support/plant-jobs.ts";

const card = z.string().meta({ sensitive: true });
const pay = defineJob({
  id: "pay",
  payload: z.object({
    order: z.string(),
    card,
    people: z.array(z.object({ name: card, role: z.string() })).optional(),
  }),
  run() {},
});
const shop = defineApp({ name: "shop", jobs: [pay], schedules: [] });
const payload = { order: "o-1", card: "4111-secret", people: [{ name: "Ada-secret", role: "buyer" }] };

async function planted(caller: Caller) {
  const opened = await openApi([app, shop], { caller });
  await opened.call("POST", "/jobs", { kind: "pay", payload, key: "k", delay: "1h" });
  const error_message = "'card 4111-secret was refused'";
  await plantJobs(opened.pool, "FAILED", 1, { kind: "'pay'", payload: `'${JSON.stringify(payload)}'`, error_message });
  return opened;
}

const hiding = { name: "ada", role: "operate", hides: true } as const;

test("the audit has no hash of a payload for who may not reveal: it could be compared with guesses", async () => {
  const detailOf = async (caller: Caller): Promise<unknown> => {
    const { call } = await planted(caller);
    const { body } = await call("GET", "/audits");
    const { audits } = body as unknown as { audits: { detail: { payload?: unknown } }[] };
    return audits[0]?.detail.payload;
  };
  expect(await detailOf(hiding)).toBe("[hidden]");
  expect(await detailOf({ name: "ada", role: "operate" })).toMatchObject({ hmac: expect.stringMatching(/^\w{64}$/) });
});

test("what is hidden cannot be found by a filter either", async () => {
  const { call } = await planted(hiding);
  for (const query of ["payload.card=4111-secret", "text=4111"]) {
    expect(await call("GET", `/jobs?${query}`)).toMatchObject({ status: 403, body: { code: "needs-reveal" } });
  }
  const filter = { kind: "pay", payload: { card: "4111-secret" } };
  expect((await call("POST", "/bulk", { action: "retry", filter, dryRun: true })).status).toBe(403);
});

test("the log has no error text of a kind that marks something, and what its handler logs by itself", () => {
  const lines: unknown[] = [];
  const write = (message: string, fields?: unknown): unknown => lines.push([message, fields]);
  const plain: Log = { debug: write, info: write, warn: write, error: write, child: () => plain };
  const kinds = sensitiveKinds(registry([shop, app]).jobs.values());
  const log = hidingLog(plain, (kind) => kinds.has(kind));
  log.warn("job settled", { kind: "pay", code: "BROKEN", reason: "card 4111-secret was refused" });
  log.child({ lane: "default" }).error("onSettled failed", { kind: "pay", error: new Error("4111-secret") });
  expect(JSON.stringify(lines)).not.toContain("secret");
  log.warn("job settled", { kind: "greet", reason: "Ada was away" });
  log.child({ kind: "pay", job: "1" }).info("charged", { reason: "monthly" });
  expect(lines).toEqual([
    ["job settled", { kind: "pay", code: "BROKEN", reason: "[hidden]" }],
    ["onSettled failed", { kind: "pay", error: "[hidden]" }],
    ["job settled", { kind: "greet", reason: "Ada was away" }],
    ["charged", { reason: "monthly" }],
  ]);
});

test("routes of an app are given its jobs as their caller may see them", async () => {
  const routes = {
    fetch: async (_: Request, inside: RouteContext) => Response.json(await inside.find(pay, "k")),
  };
  const shown = defineApp({ name: "shop", jobs: [pay], schedules: [], routes });
  for (const [caller, isShown] of [
    [hiding, false],
    [{ name: "ada", role: "operate" }, true],
  ] as const) {
    const { call } = await openApi([app, shown], { caller });
    await call("POST", "/jobs", { kind: "pay", payload, key: "k", delay: "1h" });
    const { body } = await call("GET", "/apps/shop/x");
    expect(body.payload).toMatchObject({ order: "o-1" });
    expect(JSON.stringify(body).includes("secret")).toBe(isShown);
  }
});

test("the permission is the stage's: revealers, or else the operators that it names", () => {
  const arn = "arn:aws:sts::111122223333:assumed-role/Support/ada";
  const support = ["arn:aws:sts::*:assumed-role/Support/*"];
  expect(signedCaller(arn)).toMatchObject({ role: "read", hides: true });
  expect(signedCaller(arn, { operators: ["*"] })).toMatchObject({ role: "operate", hides: true });
  expect(signedCaller(arn, { operators: ["*", ...support] })).toEqual({ name: arn, role: "operate" });
  expect(signedCaller(arn, { operators: ["*"], revealers: ["*"] })).toEqual({ name: arn, role: "operate" });
  expect(signedCaller(arn, { operators: [] })).toMatchObject({ role: "read", hides: true });
  expect(signedCaller(arn, { operators: [], revealers: support })).toEqual({ name: arn, role: "read" });
  expect(signedCaller(arn, { operators: support, revealers: [] })).toMatchObject({ role: "operate", hides: true });
});

test("neither a stream nor what another one searched for shows what is hidden", async () => {
  const who = { caller: { name: "root", role: "operate" } as Caller };
  const { api, call } = await openApi([app, shop], who);
  await call("POST", "/jobs", { kind: "pay", payload, key: "k", delay: "1h" });
  for (const filter of [{ payload: { "people.name": "Ada-secret" } }, { kind: "pay", text: "4111-secret" }]) {
    expect((await call("POST", "/bulk", { action: "cancel", filter })).status).toBe(202);
  }
  const seen = async (): Promise<string> => {
    const headers = { host: "127.0.0.1", accept: "text/event-stream" };
    const stream = (await api.fetch(new Request("http://127.0.0.1/events", { headers }))).body?.getReader();
    let text = "";
    while (!text.includes("event: snapshot\n")) text += new TextDecoder().decode((await stream?.read())?.value);
    await stream?.cancel();
    return text + JSON.stringify((await call("GET", "/bulk")).body);
  };
  expect(await seen()).toMatch(/4111-secret.*Ada-secret/s);
  who.caller = hiding;
  const hidden = await seen();
  expect(hidden).toContain("o-1");
  expect(hidden).not.toContain("secret");
});
