/** Seven writes that carry a stored payload along, one after the other, and the three callers who then read everything that the API shows. */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { z } from "zod";
import { createApi, endpointsOf } from "../../src/api/api.ts";
import type { Caller } from "../../src/api/caller.ts";
import { defineApp } from "../../src/define/define-app.ts";
import { defineGraph } from "../../src/define/define-graph.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { registry } from "../../src/define/definition.ts";
import { canonical } from "../../src/define/payload.ts";
import { graphPlan } from "../support/graph-plan.ts";
import { running, settleOne } from "../contract/store/fixture.ts";
import { workbench } from "../contract/store/run-fixture.ts";
import { openApi } from "./harness.ts";

const secret = "SEKRET4111";
// Its members are in order, so that its JSON is also the text that is hashed.
const payload = { card: secret, order: "o-1" };
const card = z.string().meta({ sensitive: true });
const failing = z.string().refine(() => false, { error: ({ input }) => `${String(input)} is no card` });

/** A release: the kind that is paid with, under a name and with a schema of its own. */
function release(kind: string, ofCard: z.ZodType<string>) {
  const schema = z.object({ order: z.string(), card: ofCard });
  const pay = defineJob({ id: kind, payload: schema, run() {} });
  const settle = defineGraph({
    id: `${kind}-settle`,
    version: 1,
    input: schema,
    tasks(task) {
      task("first", { run: () => Promise.resolve(null) });
    },
  });
  const loose = defineJob({ id: "loose", payload: z.looseObject({}), run() {} });
  return [defineApp({ name: "shop", jobs: [pay, settle, loose], schedules: [] })];
}

const first = () => release("pay", card);
const operator: Caller = { name: "operator", role: "operate", hides: true };
const revealer: Caller = { name: "revealer", role: "operate" };
const reader: Caller = { name: "reader", role: "read", hides: true, scope: { apps: ["shop"] } };

/** What the first release left: a schedule, a failed job, a job that waits, and a run whose task failed. */
async function planted() {
  const who = { caller: revealer, endsStreams: true };
  const opened = await openApi(first(), who);
  const { store, call, advance } = opened;
  const schedule = await call("POST", "/schedules", { id: "s", kind: "pay", every: "1h", payload });
  expect(schedule.status).toBe(201);
  await call("POST", "/jobs", { kind: "pay", payload, key: "k", delay: "1d" });
  const error = { errorCode: "BROKEN", errorMessage: `card ${secret} was refused` };
  const broken = {
    to: "FAILED",
    failures: 1,
    ...error,
    detail: { stack: secret, causes: [secret], response: null, log: [] },
  } as const;
  const row = { kind: "pay", payload };
  const { jobId: failed } = await running(store, row);
  await settleOne(store, { jobId: failed, attempt: 1 }, broken);
  const { jobId: done } = await running(store, row);
  await settleOne(store, { jobId: done, attempt: 1 }, { result: { charged: secret } });
  const { runId, end } = await workbench(store, await graphPlan(first(), "pay-settle", { key: "run", input: payload }));
  await end("first", broken);
  await advance(3_600_000);
  return { ...opened, who, ids: { failed, run: runId } };
}

type World = Awaited<ReturnType<typeof planted>>;
type Ask = (method: string, path: string, body?: object) => Promise<string>;
type Write = (ask: Ask, world: World) => Promise<unknown>;

function asking(world: World, apps: ReturnType<typeof release>): Ask {
  const { options, who } = world;
  const { fetch } = createApi({ ...options, endsStreams: true, registry: registry(apps), identify: () => who.caller });
  return async (method, path, body) => {
    const headers = { host: "127.0.0.1", ...(body === undefined ? {} : { "content-type": "application/json" }) };
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(new Request(`http://127.0.0.1${path}`, { method, headers, ...content }));
    return `${answer.status} ${await answer.text()}`;
  };
}

/** Everything that a caller can read, of every job, run, schedule and bulk action that there is. */
async function everything(ask: Ask, { options, pool }: World): Promise<string> {
  const idsOf = async (table: string) =>
    (await pool.query<{ id: string }>(`select id::text from belfry.${table}`)).rows.map(({ id }) => id);
  const ids: Record<string, readonly string[]> = {
    jobs: await idsOf("job"),
    runs: await idsOf("run"),
    bulk: await idsOf("bulk"),
    schedules: await idsOf("schedule"),
  };
  const queries: Record<string, string> = { explainTime: "?time=09:00", previewExpression: "?expression=5m" };
  const asked = endpointsOf(options).filter(({ method }) => method === "GET");
  const paths = asked.flatMap(({ name, path }) => {
    const at = `${path.replace(":attempt", "1")}${queries[name] ?? ""}`;
    return path.includes(":id") ? (ids[path.split("/")[1] ?? ""] ?? []).map((id) => at.replace(":id", id)) : [at];
  });
  const texts: string[] = [];
  for (const path of [...paths, "/jobs/counts", "/schedule-outcomes?id=s&include=times"])
    texts.push(await ask("GET", path));
  return texts.join("\n");
}

const window = { from: "2026-11-21T08:00:00Z", to: "2026-11-21T09:00:00Z" };

const patch: Write = async (ask) => [
  await ask("PATCH", "/schedules/s", { kind: "loose" }),
  await ask("POST", "/schedules/s/trigger"),
];
/** As a guess of the payload, by who knows all of it but the card: the answer must not help. */
const guess: Write = (ask) => ask("POST", "/jobs", { kind: "pay", key: "k", payload: { card: "5555", order: "o-1" } });
const put: Write = async (ask) => [
  await ask("PUT", "/schedules/s", { kind: "loose", every: "1h", payload: { order: "o-2" } }),
  await ask("POST", "/schedules/s/trigger"),
];
const rerun: Write = (ask, { ids }) => ask("POST", `/runs/${ids.run}/rerun`);
const retry: Write = async (ask, { ids }) => [
  await ask("POST", `/jobs/${ids.failed}/retry`),
  await ask("POST", `/runs/${ids.run}/retry`),
  await ask("POST", "/bulk", { action: "retry", filter: { kind: "pay" } }),
];
const trigger: Write = (ask) => ask("POST", "/schedules/s/trigger");
const backfill: Write = async (ask) => [
  await ask("POST", "/schedules/s/backfill", { ...window, force: true, dryRun: true }),
  await ask("POST", "/schedules/s/backfill", { ...window, force: true }),
];
const all: Write = async (ask, world) => {
  const answers = [];
  for (const write of [trigger, backfill, retry, rerun, guess, patch, put]) answers.push(await write(ask, world));
  return [...answers, await ask("PATCH", "/schedules/s", { overlap: "skip" })];
};

test.each<[string, Write, () => ReturnType<typeof release>]>([
  ["each of them", all, first],
  ["a release that drops the mark", all, () => release("pay", z.string())],
  ["a release that renames the kind", all, () => release("payment", z.string())],
  ["a release whose schema refuses what is stored, in words that quote it", all, () => release("pay", failing)],
])("after %s a payload is hidden from who may not reveal, and shown to who may", async (_, write, apps) => {
  const digits = createHash("sha256").update(canonical(payload)).digest("hex").slice(0, 12);
  const world = await planted();
  const ask = asking(world, apps());
  const written = new Map<Caller, string>();
  for (const caller of [operator, reader, revealer]) {
    world.who.caller = caller;
    written.set(caller, JSON.stringify(await write(ask, world)));
  }
  for (const [caller, answers] of written) {
    world.who.caller = caller;
    const seen = `${answers}\n${await everything(ask, world)}`;
    const found = linesWith(seen, secret);
    const isShown = caller.hides !== true;
    const where = isShown ? [] : found;
    expect
      .soft({ by: caller.name, isSeen: found.length > 0, where })
      .toEqual({ by: caller.name, isSeen: isShown, where: [] });
    expect.soft(linesWith(seen, digits), `${caller.name} sees a hash`).toEqual([]);
  }
  expect.soft(unhidden(world.logged)).toEqual([]);
});

/** Lines that the log of a process would write with it: those that name their kind lose their texts (hiding-log.ts). */
const unhidden = (logged: World["logged"]): readonly unknown[] =>
  logged.filter((line) => JSON.stringify(line).includes(secret) && !Object.hasOwn(line.fields ?? {}, "kind"));

const linesWith = (text: string, part: string): readonly string[] =>
  text.split("\n").flatMap((line) => {
    const at = line.indexOf(part);
    return at === -1 ? [] : [line.slice(Math.max(0, at - 200), at + 50)];
  });
