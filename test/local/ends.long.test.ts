import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Client } from "pg";
import { expect, test } from "vitest";
import { freshFolder } from "./folder.ts";
import { beginProcess, newApp, slowMs, startProcess } from "./greeting-system.ts";
import { until } from "./until.ts";

const core = new URL("../../src/compose/index.ts", import.meta.url).href;
const timeout = 4 * slowMs;

/** Its handler starts a process that outlives it and keeps its output open, as a browser or a forgotten daemon does. */
function leavingApp(): { home: string; app: URL; left: () => number | null } {
  const home = freshFolder();
  const code = join(home, "app");
  mkdirSync(code);
  const file = join(code, "app.ts");
  const pidFile = join(code, "pid");
  writeFileSync(
    file,
    `import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { defineApp, defineJob, defineSchedule } from ${JSON.stringify(core)};
let begun = false;
const leave = defineJob({ id: "leave", run() {
  if (begun) return;
  begun = true;
  const child = spawn("sleep", ["777"], { detached: true, stdio: "inherit" });
  child.unref();
  writeFileSync(${JSON.stringify(pidFile)}, String(child.pid));
} });
export default [defineApp({ name: "leaving", schedules: [defineSchedule({ id: "leave-often", every: "1s", run: leave })] })];
`,
  );
  const left = () => (existsSync(pidFile) ? Number(readFileSync(pidFile, "utf8")) || null : null);
  return { home, app: pathToFileURL(file), left };
}

test("Ctrl-C ends the system and what its handlers left behind", { timeout }, async () => {
  const { home, app, left } = leavingApp();
  const system = await startProcess(home, app);
  const pid = await until("the process that a handler leaves", left, slowMs);
  expect(isAlive(pid)).toBe(true);
  const ended = once(system.process, "exit");
  system.process.kill("SIGINT");
  expect(await ended).toEqual([130, null]);
  expect(isAlive(pid)).toBe(false);
});

test("a second Ctrl-C ends everything at once, also during the start", { timeout }, async () => {
  const { home, app } = newApp("hello");
  const begun = beginProcess(home, app);
  const api = await until("a part", () => existsSync(join(home, "postgres", "postgres.json")), slowMs);
  expect(api).toBe(true);
  const ended = once(begun.process, "exit");
  begun.process.kill("SIGINT");
  const again = setInterval(() => begun.process.kill("SIGINT"), 700);
  try {
    const [code] = (await ended) as [number | null];
    expect(code).toBe(130);
  } finally {
    clearInterval(again);
  }
  const next = await startProcess(home, app);
  expect(next.api).toContain("127.0.0.1");
});

test(
  "a folder that another build made is met with what its user can do, and keeps what it has",
  { timeout },
  async () => {
    const { home, app } = newApp("hello");
    const first = await startProcess(home, app);
    const client = new Client({ connectionString: first.database });
    await client.connect();
    await client.query("update belfry.migration set checksum = 'of another build' where name like '0005%'");
    await client.end();
    await stopped(first.process);
    const second = beginProcess(home, app);
    expect(await once(second.process, "exit")).toEqual([1, null]);
    const text = second.errors.join("\n");
    expect(text).toContain(`the data in ${home} was made by another build of Belfry`);
    // As root the data may lie where Postgres' own user can enter, and would be removed by a new folder of that name.
    expect(text).toMatch(
      /(move the folder away|set BELFRY_HOME to a new one, as its data lies in \S+,) to begin with an empty one/,
    );
  },
);

test("a state folder that is deleted stops the system with its name", { timeout }, async () => {
  const { home, app } = newApp("hello");
  const system = await startProcess(home, app);
  const ended = once(system.process, "exit");
  rmSync(home, { recursive: true, force: true });
  const [code] = (await ended) as [number | null];
  expect(code).toBe(1);
  expect(system.errors.join("\n")).toContain(`the data folder ${home} is gone`);
});

async function stopped(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGINT");
  await ended;
}

function isAlive(pid: number): boolean {
  try {
    // One that has ended and is not waited for is no living process.
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
