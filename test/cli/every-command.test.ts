import type { Command } from "commander";
import { expect, onTestFinished, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { output } from "../../src/cli/output.ts";
import { program } from "../../src/cli/program.ts";
import { defineApp } from "../../src/core/definitions/define-app.ts";
import { defineGraph } from "../../src/core/definitions/define-graph.ts";
import { definitionOf } from "../../src/core/definitions/define-job.ts";
import { registry } from "../../src/core/definitions/definition.ts";
import { app, ping } from "../api/harness.ts";
import { blankDatabase } from "../support/database.ts";
import { belfry, emptyFolder, serveApi } from "./harness.ts";

const silent = { out: () => {}, err: () => {}, isTerminal: false };
const leavesOf = (command: Command, path: string): readonly string[] =>
  command.commands.length === 0 ? [path] : command.commands.flatMap((each) => leavesOf(each, `${path} ${each.name()}`));
/** Every command that does something, as the program itself lists them: `jobs list`. */
const leaves = program({ streams: silent, env: {}, folder: "/" }, output(silent, false)).commands.flatMap((each) =>
  leavesOf(each, each.name()),
);

/** What each is given. JOB waits, ENDED is FAILED, OVER is a FAILED run. The others need no API. */
const given: Readonly<Record<string, string>> = {
  "jobs list": "--state FAILED",
  "jobs show": "ENDED",
  "jobs enqueue": 'greet {"name":"Ada"}',
  explain: "JOB",
  "jobs run-now": "JOB",
  "jobs cancel": "JOB",
  "jobs retry": "JOB",
  "runs list": "",
  "runs show": "RUN",
  "runs cancel": "RUN",
  "runs watch": "RUN",
  "runs retry": "RUN",
  "runs rerun": "RUN",
  "schedules list": "",
  "schedules show": "nightly",
  "schedules next": "nightly --count 1",
  "schedules history": "ping-often",
  "schedules explain": "ping-often 08:00",
  "schedules preview": "5m --count 1",
  "schedules create": "weekly --kind ping --every 7d",
  "schedules update": "nightly --kind ping --every 6h",
  "schedules pause": "nightly",
  "schedules resume": "nightly",
  "schedules trigger": "nightly",
  "schedules backfill": "nightly --from 2026-11-19T00:00Z --to 2026-11-20T12:00Z --force --dry-run",
  "schedules delete": "nightly",
  "dead-letters list": "",
  "dead-letters show": "GROUP",
  "dead-letters redrive": "--kind ping --yes",
  "lanes list": "",
  "lanes pause": "default",
  "lanes resume": "default",
  "lanes limit": "shout 3",
  locks: "",
  workers: "",
};
/** They look at this machine, make something on it, or go on until they are stopped. */
const elsewhere = ["logs", "check", "migrate", "doctor", "init", "console", "dev"];
const reads = /^(explain|locks|workers|logs|(\w|-)+ (list|show|watch|next|history|explain|preview))$/;

const steps = defineGraph({
  id: "steps",
  version: 1,
  tasks: (task) => void task("first", { run: () => null }),
});
const graphs = defineApp({ name: "graphs", jobs: [steps] });

/** A job that waits, two that FAILED, a run and a schedule: whatever the commands above are given. */
async function planted(options: Parameters<typeof serveApi>[0] = {}) {
  const served = await serveApi(options, [app, graphs]);
  const { pool, store } = served;
  await pool.query(
    `insert into belfry.job (kind, payload, payload_hash, lane, state, due_at, generation, attempt, failures, max_attempts,
       lease_ms, retention_ms, trace, finished_at, created_at, error_code, error_message)
     select 'ping', 'null', '\\x00', 'default', 'FAILED', belfry.now(), 1, 1, 1, 4, 20000, 2592000000, 't', belfry.now(),
       belfry.now(), 'BROKEN', e'no\\033[31m' from generate_series(1, 2)`,
  );
  const { rows } = await pool.query<{ id: string }>("select id from belfry.job limit 1");
  const { groups } = (await served.call("GET", "/dead-letters")).body as unknown as {
    groups: { fingerprint: string }[];
  };
  const [job] = (await served.client.enqueue(definitionOf(ping), [{ payload: undefined, delayMs: 3_600_000 }])).map(
    ({ id }) => id,
  );
  const plan = await registry([graphs])
    .jobs.get("steps")
    ?.plan?.(null, { stage: "dev", key: "k", trace: "t", starterId: null, parentId: null });
  if (plan === undefined) throw new Error("steps is a graph");
  const { runId } = await store.startRun(plan, { lookAheadMs: 0 });
  const nightly = { id: "nightly", kind: "ping", cron: "0 3 * * *", timezone: "UTC" };
  if (options.caller === undefined) await served.call("POST", "/schedules", nightly);
  const names: Record<string, string> = {
    JOB: job ?? "",
    ENDED: rows[0]?.id ?? "",
    GROUP: groups[0]?.fingerprint ?? "",
    RUN: runId,
  };
  const words = (leaf: string): string[] =>
    `${leaf} ${given[leaf] ?? ""}`
      .trim()
      .split(" ")
      .map((word) => names[word] ?? word);
  return { ...served, run: (leaf: string, ...more: string[]) => served.belfry(...words(leaf), ...more) };
}

/** The names and kinds of all members: what a script may rely on. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])];
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shapeOf(each)]));
}

test("no command is left out here", () => {
  expect([...Object.keys(given), ...elsewhere].toSorted()).toEqual(leaves.toSorted());
});

test("the JSON of every command keeps its shape, and its text steers no terminal", async () => {
  const { run } = await planted();
  for (const leaf of Object.keys(given)) {
    const { code, json, err } = await run(leaf, "--json");
    expect({ leaf, code, err: code === 0 ? "" : err }).toEqual({ leaf, code: 0, err: "" });
    expect(shapeOf(json)).toMatchSnapshot(leaf);
  }
  // The run goes on again by now, and so would a watch of it.
  for (const leaf of Object.keys(given).filter((each) => reads.test(each) && each !== "runs watch")) {
    expect((await run(leaf)).out).not.toContain("\u001b[31m");
  }
}, 60_000);

test("the JSON of a dry run keeps its shape", async () => {
  const { belfry: at } = await planted();
  const { json } = await at("dead-letters", "redrive", "--kind", "ping", "--dry-run", "--json");
  expect(shapeOf(json)).toEqual({ dryRun: "boolean", matched: { count: "number", isMore: "boolean" } });
});

test("the JSON of the commands of this machine keeps its shape", async () => {
  const { url, close } = await blankDatabase();
  onTestFinished(close);
  const shape = async (args: string, settings: Parameters<typeof belfry>[1]) =>
    expect(shapeOf((await belfry([...args.split(" "), "--json"], settings)).json)).toMatchSnapshot(args);
  await shape("check --stage prod", {});
  await shape("migrate --stage prod", { env: { DATABASE_URL: url } });
  await shape("doctor --local", { env: { DATABASE_URL: url } });
  await shape("init reports", { folder: emptyFolder() });
}, 60_000);

test.each(leaves)("%s --help says what it does and shows an example", async (leaf) => {
  const { code, out, err } = await belfry([...leaf.split(" "), "--help"]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toMatch(
    new RegExp(
      `^Usage: belfry ${leaf} .*\\n\\n\\w.+\\n[^]*Example:\\n  \\$ .*npx belfry ${leaf.replace(" list", "( list)?")}`,
    ),
  );
});

test.each(leaves.filter((leaf) => leaf !== "dev"))("%s with an option that it does not know is 2", async (leaf) => {
  const required = leaf === "doctor" ? "--local" : (given[leaf] ?? "");
  const words = `${leaf} ${required}`.trim().split(" ");
  const { code, err, json } = await belfry([...words, "--no-such-option", "--json"]);
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining("--no-such-option") as string });
  expect(json).toMatchObject({ error: { code: "usage", exitCode: 2 } });
  expect(err).toContain("--help");
});

test("what asks the API is 1 when nobody answers, and 4 when the caller may not", async () => {
  const { run } = await planted({ caller: { name: "bob", role: "read" } });
  for (const leaf of Object.keys(given)) {
    const { code, err } = await run(leaf, "--url", "http://127.0.0.1:9");
    expect({ leaf, code, err }).toEqual({
      leaf,
      code: 1,
      err: expect.stringContaining("does not answer at") as string,
    });
  }
  for (const leaf of Object.keys(given).filter((each) => !reads.test(each))) {
    expect({ leaf, code: (await run(leaf)).code }).toEqual({ leaf, code: 4 });
  }
}, 60_000);

test("what is given an id that nobody has is 3, and 2 for one that no URL can carry", async () => {
  const { belfry: at } = await serveApi();
  for (const leaf of Object.keys(given).filter(
    (each) => /\b(JOB|ENDED|RUN|nightly|ping-often)\b/.test(given[each] ?? "") && !/create|pause/.test(each),
  )) {
    const rest = (given[leaf] ?? "").split(" ").slice(1);
    const nobody = leaf.startsWith("schedules") ? "nobody" : "999999";
    expect({ leaf, code: (await at(...leaf.split(" "), nobody, ...rest)).code }).toEqual({ leaf, code: 3 });
    for (const id of ["", ".", ".."])
      expect({ leaf, id, code: (await at(...leaf.split(" "), id, ...rest)).code }).toEqual({ leaf, id, code: 2 });
  }
}, 60_000);

test("what could be done in part only is 6", async () => {
  const { belfry: at, run } = await planted();
  const { json } = await run("jobs enqueue", "--json");
  expect((await at("jobs", "cancel", "999999", json.id)).code).toBe(6);
  expect((await at("schedules", "pause", "none", "ping-often", "--yes")).code).toBe(6);
});

test("a stage that is named is the one that is migrated, wherever it is named", async () => {
  const { url, close } = await blankDatabase();
  onTestFinished(close);
  const env = { DATABASE_URL: url };
  for (const args of [
    ["migrate", "--stage", "prod"],
    ["--stage", "prod", "migrate"],
  ]) {
    expect((await belfry([...args, "--json"], { env })).json).toMatchObject({
      stage: "prod",
      sets: [{ name: "belfry" }],
    });
  }
  expect(await belfry(["migrate", "--stage", "nowhere"], { env })).toMatchObject({ code: 2 });
}, 30_000);

test("--version is the release's", async () => {
  expect(await belfry(["--version"])).toMatchObject({ code: 0, out: `${manifest.version}\n` });
});
