import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { type ExitCode, exits } from "../../src/cli/exit.ts";
import type { JobId } from "../../src/machine/job.ts";
import type { Settlement } from "../../src/machine/store.ts";
import { receiver } from "../publish/sink.ts";
import { belfry, serveApi, signIn } from "./harness.ts";
import { emptyFolder } from "../support/empty-folder.ts";
import { foreignQueues } from "./foreign-queues.ts";
import { given, planted } from "./planted.ts";
import { bareEnvironment } from "../support/bare-environment.ts";
import { listening } from "../support/listening.ts";

/** Where no server listens. */
const nowhere = "http://127.0.0.1:9";
const local: Readonly<Record<string, string>> = {
  doctor: "--local",
  "jobs run": "42 --local",
  init: "reports",
  bundle: "--out out",
  check: "--against prod",
  "cells move": "--from 00000000 --to 00000001 --cell b",
  "cells forget": "--cell a",
  "import pg-boss": "--database postgresql://belfry@127.0.0.1:9/belfry --apply",
  "import graphile-worker": "--database postgresql://belfry@127.0.0.1:9/belfry --apply",
};

/** The commands that the table gives this code. */
const endingWith = (code: ExitCode): readonly string[] =>
  Object.entries(exits).flatMap(([leaf, codes]) => (codes.includes(code) ? [leaf] : []));

/** What a user types, with ids that need not be there. */
const line = (leaf: string): string[] => `${leaf} ${given[leaf] ?? local[leaf] ?? ""}`.trim().split(" ");

/** What the table says: each of these commands and the code. */
const all = (code: ExitCode): object => Object.fromEntries(endingWith(code).map((leaf) => [leaf, code]));

/** What each of them did. */
async function ended(code: ExitCode, codeOf: (leaf: string) => Promise<number | null>): Promise<object> {
  const codes: Record<string, number | null> = {};
  for (const leaf of endingWith(code)) codes[leaf] = await codeOf(leaf);
  return codes;
}

const bin = fileURLToPath(new URL("../../bin/belfry.mjs", import.meta.url));

/** `dev` becomes the system, so it has a process of its own. */
async function devCode(...args: string[]): Promise<number | null> {
  const child = spawn(process.execPath, [bin, "dev", ...args], { stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [code] = (await once(child, "exit")) as [number | null];
  return code;
}

/** As Ctrl-C in a terminal, to every process of the group, while the system starts and looks for its database. */
async function interruptedDev(): Promise<number | null> {
  const database = await silentDatabase((socket) => {
    process.kill(-(child.pid ?? 0), "SIGINT");
    socket.destroy();
  });
  const env = { ...bareEnvironment, BELFRY_HOME: emptyFolder(), DATABASE_URL: database };
  const child = spawn(process.execPath, [bin, "dev"], { stdio: "ignore", env, detached: true });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [code] = (await once(child, "exit")) as [number | null];
  return code;
}

/** Takes connections and says nothing. */
const silentDatabase = async (onConnection: (socket: Socket) => void): Promise<string> =>
  `postgresql://belfry@127.0.0.1:${await listening(createServer(onConnection))}/belfry`;

test("1: no server answers, or the machine does not let it", async () => {
  signIn();
  const folder = emptyFolder();
  writeFileSync(join(folder, "file"), "");
  const taken = new URL((await receiver(() => null)).url).port;
  const database = "postgresql://belfry@127.0.0.1:9/belfry";
  const cells = join(folder, "cells.json");
  writeFileSync(cells, JSON.stringify({ a: { number: 0, stage: "a", databaseUrl: database } }));
  const env = { AWS_REGION: "eu-west-1", DATABASE_URL: database, BELFRY_CELLS: cells };
  const codes = await ended(1, async (leaf) => {
    if (leaf === "dev") return await devCode("--port", taken);
    if (leaf === "init") return (await belfry(["init", "file/reports"], { folder })).code;
    if (leaf === "bundle") return (await belfry(["bundle", "--stage", "prod", "--out", "file/x"], { folder })).code;
    const { code, out, err } = await belfry(leaf === "migrate" ? [leaf] : [...line(leaf), "--url", nowhere], { env });
    expect(out + err).toMatch(/does not answer|127\.0\.0\.1:9/);
    return code;
  });
  expect(codes).toEqual(all(1));
});

test("2: an option that it does not know", async () => {
  const codes = await ended(2, async (leaf) => {
    if (leaf === "dev") return await devCode("--no-such-option");
    const { code, err, json } = await belfry([...line(leaf), "--no-such-option", "--json"]);
    expect(err).toContain("--no-such-option");
    expect(err).toContain("--help");
    expect(json).toMatchObject({ error: { code: "usage", exitCode: 2 } });
    return code;
  });
  expect(codes).toEqual(all(2));
});

test("3: a stage that is not deployed", async () => {
  signIn();
  const stacks = await receiver(() => ({
    status: 400,
    body: "<Message>Stack with id belfry-prod does not exist</Message>",
  }));
  const env = { AWS_REGION: "eu-west-1", AWS_ENDPOINT_URL_CLOUDFORMATION: stacks.url };
  // Before a first deployment nothing waits, so `check --against` ends well then; any other answer is an error of it too.
  const busy = await receiver(() => ({ status: 500, body: "<Message>Rate exceeded for belfry-prod</Message>" }));
  const missing = await planted();
  const codes = await ended(3, async (leaf) => {
    if (leaf === "jobs run") return (await missing.belfry("jobs", "run", "999999", "--local")).code;
    const { code, err } = await (leaf === "check"
      ? belfry(line(leaf), { env: { ...env, AWS_ENDPOINT_URL_CLOUDFORMATION: busy.url } })
      : belfry([...line(leaf), "--stage", "prod"], { env }));
    expect(err).toMatch(
      /the API of stage "prod" was not found in eu-west-1: (no stack has an output with its address|Rate exceeded for belfry-prod)/,
    );
    return code;
  });
  expect(codes).toEqual(all(3));
});

test("4: an API that does not know the caller", async () => {
  signIn();
  const { url } = await serveApi({ caller: null });
  const refusing = await receiver(() => ({ status: 403 }));
  const codes = await ended(4, async (leaf) => {
    const at = leaf === "console" ? refusing.url : url;
    return (await belfry(line(leaf), { env: { BELFRY_URL: at, AWS_REGION: "eu-west-1" } })).code;
  });
  expect(codes).toEqual(all(4));
});

test("5: what is there already, or not in the state for it", async () => {
  const { belfry: at, words } = await planted();
  await at("jobs", "enqueue", "greet", '{"name":"Bob"}', "--key", "taken");
  await at(...words('runs signal RUN approved --payload {"by":"Ada"}'));
  const folder = emptyFolder();
  writeFileSync(join(folder, "reports"), "");
  const conflicts: Readonly<Record<string, string>> = {
    "jobs enqueue": 'jobs enqueue greet {"name":"Ada"} --key taken',
    "jobs retry": "jobs retry JOB",
    "jobs cancel": "jobs cancel ENDED",
    "jobs run-now": "jobs run-now ENDED",
    "jobs run": "jobs run ENDED --local",
    "runs retry": "runs retry RUN",
    "runs cancel": "runs cancel OVER",
    "runs rerun": "runs rerun OVER",
    "runs signal": 'runs signal RUN approved --payload {"by":"Bob"}',
    "schedules create": "schedules create nightly --kind ping --every 7d",
    "schedules update": "schedules update ping-often --every 6h",
    "schedules delete": "schedules delete ping-often",
    "schedules backfill": "schedules backfill nightly --from 2026-11-19T00:00Z --to 2026-11-20T12:00Z",
  };
  const codes = await ended(5, async (leaf) =>
    leaf === "init"
      ? (await belfry(["init", "reports"], { folder })).code
      : (await at(...words(conflicts[leaf] ?? leaf))).code,
  );
  expect(codes).toEqual(all(5));
});

test("6: what could be done in part only", async () => {
  const { belfry: at, words, store, pool } = await planted();
  const database = await foreignQueues(pool);
  const { retry } = store;
  const unpaid = await receiver(() => ({
    status: 200,
    body: JSON.stringify({
      times: [],
      failed: ["09:00: no payload"],
      paceMs: 0,
      state: "DONE",
      changed: 1,
      refused: 1,
    }),
  }));
  const parts: Readonly<Record<string, string>> = {
    "jobs retry": "jobs retry 999999 ENDED",
    "jobs run-now": "jobs run-now 999999 NEW",
    "jobs cancel": "jobs cancel 999999 NEW",
    "schedules pause": "schedules pause missing nightly --yes",
    "schedules resume": "schedules resume missing nightly --yes",
    "schedules delete": "schedules delete missing nightly --yes",
    "schedules backfill": `${line("schedules backfill").join(" ").replace(" --dry-run", "")} --url ${unpaid.url}`,
    "dead-letters redrive": "dead-letters redrive --kind ping --yes",
    "import pg-boss": `import pg-boss --database ${database} --apply`,
    "import graphile-worker": `import graphile-worker --database ${database} --apply`,
  };
  const codes = await ended(6, async (leaf) => {
    // Another caller is faster with one of them.
    if (leaf === "dead-letters redrive") {
      store.retry = async (ids) => {
        const retried = await retry(ids);
        return { ...retried, ids: retried.ids.slice(1) };
      };
    }
    const { json: fresh } = await at("jobs", "enqueue", "ping", "--delay", "1h", "--json");
    return (await at(...words((parts[leaf] ?? leaf).replace("NEW", fresh.id)))).code;
  });
  expect(codes).toEqual(all(6));
});

test("7: a failed job or run was found", async () => {
  const { belfry: at, words, store } = await planted();
  const { json: job } = await at("jobs", "enqueue", "ping", "--key", "broken", "--json");
  await fail(store, job.id as JobId);
  const { json: triggered } = await at("schedules", "trigger", "nightly", "--key", "broken", "--json");
  await fail(store, triggered.id as JobId);
  const found: Readonly<Record<string, string>> = {
    "jobs list": "jobs list --check",
    "jobs show": "jobs show ENDED --check",
    "jobs enqueue": "jobs enqueue ping --key broken --wait",
    "schedules trigger": "schedules trigger nightly --key broken --wait",
    "runs list": "runs list --check",
    "runs show": "runs show OVER --check",
    "runs watch": "runs watch OVER",
    "dead-letters list": "dead-letters list --check",
  };
  const codes = await ended(7, async (leaf) => (await at(...words(found[leaf] ?? leaf))).code);
  // It needs a whole local system: `test/local/debugger.long.test.ts` sees its 7.
  expect({ ...codes, "jobs run": 7 }).toEqual(all(7));
});

test("--timeout ends the wait for the run too that a job started", async () => {
  const { belfry: at, pool, store } = await planted();
  const { json: job } = await at("jobs", "enqueue", "steps", "--key", "again", "--json");
  await end(store, job.id as JobId, { to: "SUCCESS", reason: null, failures: 0 });
  await pool.query("update belfry.run set starter_id = $1 where kind = 'steps'", [job.id]);
  const waited = await at("jobs", "enqueue", "steps", "--key", "again", "--wait", "--timeout", "1");
  expect(waited).toMatchObject({
    code: 1,
    err: expect.stringMatching(/run \d+ has not ended within 1 s: 0 of 2 done/),
  });
});

const fail = (store: Store, jobId: JobId) => end(store, jobId, { to: "FAILED", reason: "permanent", failures: 1 });

type Store = Awaited<ReturnType<typeof planted>>["store"];

async function end(store: Store, jobId: JobId, as: Pick<Settlement, "to" | "reason" | "failures">): Promise<void> {
  await store.claim([{ jobId, generation: 1, trace: "" }], { worker: "w", alone: false });
  const why = { errorCode: as.to === "FAILED" ? "BROKEN" : null, errorMessage: null, result: null, children: [] };
  await store.settle([{ jobId, attempt: 1, delayMs: 0, interruptions: 0, ...as, ...why }], { worker: "w" });
}

test("130: interrupted while nothing answers", async () => {
  signIn();
  let interrupt = new AbortController();
  const stage = await receiver(() => {
    interrupt.abort();
    return null;
  });
  const database = await silentDatabase(() => interrupt.abort());
  const codes = await ended(130, async (leaf) => {
    if (leaf === "dev") return await interruptedDev();
    interrupt = new AbortController();
    const store = leaf === "migrate" ? { DATABASE_URL: database } : {};
    const env = { AWS_REGION: "eu-west-1", BELFRY_URL: stage.url, ...store };
    return (await belfry(line(leaf), { env, interrupted: interrupt.signal })).code;
  });
  expect(codes).toEqual(all(130));
});
