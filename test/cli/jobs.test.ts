import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { JobId } from "../../src/machine/job.ts";
import type { Store } from "../../src/machine/store.ts";
import { claimOne, settleOne } from "../contract/store/fixture.ts";
import { aRun } from "../contract/store/run-fixture.ts";
import { freePort } from "../../src/local/process/free-port.ts";
import { belfry as bare, serveApi } from "./harness.ts";
import { emptyFolder } from "../support/empty-folder.ts";
import { plantJobs } from "../support/plant-jobs.ts";
import { eachTest } from "../support/each-test.ts";

const opened = eachTest(() => serveApi());
const { belfry } = opened;

const broken = {
  to: "FAILED",
  reason: "permanent",
  failures: 1,
  errorCode: "HTTP_404",
  errorMessage: "no such\u001B[2J thing",
} as const;
const fail = async (store: Store, id: string) => settleOne(store, await claimOne(store, id as JobId), broken);

test("enqueue writes a job, and with the same key says that it exists", async () => {
  const first = await belfry("jobs", "enqueue", "greet", '{"name":"Ada"}', "--key", "a", "--json");
  expect(first).toMatchObject({ code: 0, json: { created: true, kind: "greet", state: "QUEUED" } });
  const again = await belfry("jobs", "enqueue", "greet", '{"name":"Ada"}', "--key", "a", "--json");
  expect(again).toMatchObject({ code: 0, json: { created: false, id: first.json.id } });
  expect(again.err).toContain("nothing was written");
});

test("each kind of refusal has its own exit code and a message on stderr", async () => {
  const { json: job } = await belfry("jobs", "enqueue", "greet", '{"name":"Ada"}', "--key", "a", "--json");
  const conflict = await belfry("jobs", "enqueue", "greet", '{"name":"Bob"}', "--key", "a");
  expect(conflict).toMatchObject({ code: 5, out: "" });
  expect(conflict.err).toContain("another payload");
  expect(await belfry("jobs", "show", "999")).toMatchObject({ code: 3, err: "error: there is no job 999\n" });
  const unknown = await belfry("jobs", "enqueue", "gret");
  expect(unknown.code).toBe(2);
  expect(unknown.err).toContain("did you mean greet?");
  expect((await belfry("jobs", "enqueue", "greet", "{name:1}")).code).toBe(2);
  expect(await belfry("jobs", "retry", job.id)).toMatchObject({ code: 5, out: "" });
});

test("with --json an error is an object on stdout too", async () => {
  const { code, json } = await belfry("jobs", "show", "999", "--json");
  expect(code).toBe(3);
  expect(json).toEqual({ error: { code: "unknown-job", message: "there is no job 999", details: [], exitCode: 3 } });
});

test.each([
  [["jobs", "lst"], "Did you mean one of list, ls?"],
  [["jobs", "list", "--stat", "FAILED"], "--state"],
  [["nothing"], "unknown command"],
  [["jobs", "show"], "id"],
  [["jobs", "show", "1", "--wait", "--timeout", "soon"], "whole seconds"],
  [["--url", "ftp://x", "jobs", "list"], "--url"],
])("a wrong command line is exit code 2 and says what was meant: %j", async (args, said) => {
  const { code, err } = await bare(args);
  expect(code).toBe(2);
  expect(err).toContain(said);
});

test("the list is tab-separated on a pipe and empty when nothing matches", async () => {
  await belfry("jobs", "enqueue", "ping", "--key", "p");
  const { out } = await belfry("jobs", "list", "--kind", "ping");
  expect(out.split("\n")).toEqual([
    "ID\tKIND\tSTATE\tDUE\tTOOK\tERROR",
    expect.stringMatching(/^\d+\tping\tQUEUED\t2026-11-21T08:00:00.000Z\t\t$/),
    "",
  ]);
  expect((await belfry("jobs", "list", "--state", "FAILED")).out).toBe("no jobs\n");
});

test("a long list says how to go on, on stderr", async () => {
  for (const key of ["a", "b", "c"]) await belfry("jobs", "enqueue", "ping", "--key", key);
  const { json, err } = await belfry("jobs", "list", "--limit", "2", "--json");
  expect(json.jobs).toHaveLength(2);
  expect(err).toBe(`more: --cursor ${json.nextCursor}, or --all\n`);
  const rest = await belfry("jobs", "list", "--limit", "2", "--cursor", json.nextCursor, "--json");
  expect(rest.json).toMatchObject({ jobs: [{ key: "a" }], nextCursor: null });
});

test("--check and --wait find a failed job with exit code 7", async () => {
  const { store } = opened;
  const { json: job } = await belfry("jobs", "enqueue", "ping", "--json");
  expect((await belfry("jobs", "list", "--check")).code).toBe(0);
  await fail(store, job.id);
  expect((await belfry("jobs", "list", "--check")).code).toBe(7);
  expect((await belfry("jobs", "show", job.id)).code).toBe(0);
  expect((await belfry("jobs", "show", job.id, "--check")).code).toBe(7);
  expect((await belfry("jobs", "show", job.id, "--wait")).code).toBe(7);
});

test("stored text cannot steer the terminal", async () => {
  const { store, url } = opened;
  const { json: job } = await belfry("jobs", "enqueue", "ping", "--json");
  await fail(store, job.id);
  for (const isTerminal of [true, false]) {
    const { out } = await bare(["jobs", "show", job.id], { isTerminal, env: { BELFRY_URL: url } });
    expect(out).toContain("no such\\x1b[2J thing");
    expect(out).not.toContain("\u001B[2J");
  }
});

test("retry and cancel go on after one that cannot be steered, and report each", async () => {
  const { store } = opened;
  const { json: failed } = await belfry("jobs", "enqueue", "ping", "--json");
  await fail(store, failed.id);
  const { code, json } = await belfry("jobs", "retry", "999", failed.id, "--json");
  expect(code).toBe(6);
  expect(json).toMatchObject({
    jobs: [{ id: failed.id, state: "QUEUED" }],
    errors: [{ id: "999", code: "unknown-job" }],
  });
  expect(await belfry("jobs", "cancel", failed.id, "--json")).toMatchObject({
    code: 0,
    json: { jobs: [{ state: "CANCELED" }] },
  });
});

test("schedules are listed with their next time", async () => {
  const { json } = await belfry("schedules", "list", "--json");
  expect(json.schedules).toMatchObject([{ id: "ping-often", kind: "ping" }]);
  expect((await belfry("schedules", "list")).out).toContain(
    "ping-often\ton\t2026-11-21T08:10:00.000Z\t\tevery 10m\tUTC\tping\ttests",
  );
});

test("without a running system the message says how to start one", async () => {
  const { code, err } = await bare(["jobs", "list"], { folder: emptyFolder() });
  expect(code).toBe(1);
  expect(err).toContain("npm start");
});

test("a system that does not answer is named with its address", async () => {
  const { code, err } = await bare(["jobs", "list"], { env: { BELFRY_URL: "http://127.0.0.1:9" } });
  expect(code).toBe(1);
  expect(err).toContain("http://127.0.0.1:9");
});

test("a system whose API is replaced after a save is waited for, as long as it lives", async () => {
  const folder = emptyFolder();
  const port = await freePort();
  const system = (pid: number): void =>
    writeFileSync(join(folder, ".belfry", "system.json"), JSON.stringify({ pid, api: `http://127.0.0.1:${port}` }));
  mkdirSync(join(folder, ".belfry"));
  const gone = spawnSync(process.execPath, ["-e", ""]);
  system(gone.pid);
  expect(await bare(["jobs", "list"], { folder })).toMatchObject({ code: 1 });
  system(process.pid);
  const listed = bare(["jobs", "list", "--json"], { folder });
  const server = createServer((_, response) => response.end(JSON.stringify({ jobs: [], cursor: null })));
  await once(server.listen(port, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  expect(await listed).toMatchObject({ code: 0, json: { jobs: [] } });
});

test("the CSV keeps what a spreadsheet would run, quote or break inside its cell", async () => {
  const { call } = opened;
  for (const key of ["=1+1", 'a"b,c', "two\r\nlines", "plain"]) await call("POST", "/jobs", { kind: "ping", key });
  const { code, out } = await belfry("jobs", "list", "--csv", "--sort", "oldest", "--columns", "id,key,error");
  expect(code).toBe(0);
  const keys = out.split(/\r\n(?=\d|$)/).slice(1, 5);
  expect(keys.map((row) => row.split(",").slice(1).join(",").trimEnd())).toEqual([
    "'=1+1,",
    '"a""b,c",',
    '"two\r\nlines",',
    "plain,",
  ]);
});

test("the retry of a large run, and of a job that takes much of its run along, is followed to its end", async () => {
  const { store, pool } = opened;
  const { runId } = await store.startRun(aRun({ kind: "ping", tasks: [] }));
  const [first = ""] = await plantJobs(pool, "FAILED", 1_100, { run_id: runId, end_counted: "true" });
  await pool.query("update belfry.run set total = 2200, done = 2200, failed = 1100, skipped = 1100 where id = $1", [
    runId,
  ]);
  const one = await belfry("jobs", "retry", first, "--json");
  expect(one).toMatchObject({ code: 0, json: { jobs: [{ id: first, state: "QUEUED" }], errors: [] } });
  const all = await belfry("runs", "retry", runId, "--json");
  expect(all).toMatchObject({
    code: 0,
    json: { run: { progress: { failed: 0 } }, bulk: { state: "DONE", changed: 1099 } },
  });
});
