/** The "Try it" blocks of the five examples, typed into a shell beside the running system, in their order. */
import { execFile } from "node:child_process";
import { bareEnvironment } from "../support/bare-environment.ts";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type LocalSystem, startLocal } from "../../src/local/system.ts";
import { blocksOf, commandsOf } from "./blocks.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const home = mkdtempSync(join(tmpdir(), "belfry-try-"));
const execute = promisify(execFile);
let system: LocalSystem;

beforeAll(async () => {
  const environment = { ...bareEnvironment, TZ: process.env["TZ"] };
  const settings = { postgresSettings: { fsync: "off" }, without: ["watch"] as const };
  system = await startLocal({ home, stage: "examples", port: 0, environment, ...settings });
}, 180_000);

afterAll(async () => {
  await system.stop();
  rmSync(home, { recursive: true, force: true });
});

async function type(line: string): Promise<string> {
  const typed = line
    .replaceAll("npx belfry", `"${process.execPath}" bin/belfry.mjs`)
    .replaceAll("localhost:4400", new URL(system.urls.api ?? "").host);
  const env = { ...process.env, ...system.env, BELFRY_HOME: system.home };
  const options = { cwd: root, env, timeout: 60_000 };
  const { stdout } = await execute("sh", ["-c", typed], options).catch((error: { stdout: string; stderr: string }) => {
    throw new Error(`${line}\n${error.stdout}${error.stderr}`);
  });
  return stdout;
}

const examples = ["taskflow", "batch-scheduler", "daily-quiz", "time-capsule", "dag-batch"];

test.each(examples)(
  "%s can be tried as its README says",
  async (example) => {
    const readme = readFileSync(`${root}examples/${example}/README.md`, "utf8");
    const [block, ...more] = blocksOf(readme).filter(({ language }) => language === "sh");
    expect(more).toEqual([]);
    for (const line of block === undefined ? [] : commandsOf(block)) expect(await type(line)).not.toBe("");
  },
  300_000,
);
