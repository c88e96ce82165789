import { spawnSync } from "node:child_process";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { freshFolder } from "./folder.ts";
import { bareEnvironment } from "../support/bare-environment.ts";
import { listening } from "../support/listening.ts";

function run(file: string, args: readonly string[], env: Record<string, string> = {}) {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [path, ...args], {
    encoding: "utf8",
    env: { ...bareEnvironment, ...env },
  });
  return { status, stdout, stderr };
}

describe("npm start", () => {
  const start = (...args: string[]) =>
    run("../../src/local/main.ts", ["start", ...args], { BELFRY_HOME: freshFolder() });

  it("names the port that is taken, and what to do", async () => {
    const port = await listening(createServer());
    const { status, stderr } = start("--port", String(port));
    expect(stderr).toBe(
      `error: port ${port} is taken by another program: choose another with --port, or leave it out for a free one\n`,
    );
    expect(status).toBe(1);
  });

  it("refuses a compressed clock, and says where there is one", () => {
    const scaled = { BELFRY_HOME: freshFolder(), BELFRY_TIME_SCALE: "30" };
    const { status, stderr } = run("../../src/local/main.ts", ["start"], scaled);
    expect(stderr).toBe(
      'error: BELFRY_TIME_SCALE is "30", and this system runs in real time: unset it; npm run demo is faster\n',
    );
    expect(status).toBe(1);
  });

  it.each([
    [["--port", "0"], '--port is "0"; it must be a number from 1 to 65535'],
    [["--port", "http"], '--port is "http"; it must be a number from 1 to 65535'],
    [["--prot", "80"], "Unknown option '--prot'"],
    [["again"], "usage: belfry dev"],
    [["--examples", "--stage", "demo"], "--examples is a stage of its own"],
  ])("%j is a matter of usage", (args, text) => {
    const { status, stderr } = start(...args);
    expect(stderr).toContain(text);
    expect(status).toBe(2);
  });
});

describe("the scheduler task", () => {
  const task = (args: string[], env?: Record<string, string>) => run("../../scheduler-task/main.ts", args, env);

  it.each([[[]], [["dance"]], [["pass", "twice"]], [["run-job", "7"]]])("shows its usage for %j", (args) => {
    expect(task(args)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("usage: scheduler-task/main") as string,
    });
  });

  it("fails with every problem of its settings", () => {
    const { status, stderr } = task(["pass"], { BELFRY_STAGE: "nowhere", BELFRY_PASS_MS: "-1" });
    expect(status).toBe(1);
    expect(stderr).toContain("BELFRY_STAGE");
    expect(stderr).toContain("DATABASE_URL");
    expect(stderr).toContain("BELFRY_PASS_MS");
  });

  it("fails with the address when the database does not answer", () => {
    const { status, stderr } = task(["pass"], {
      DATABASE_URL: "postgresql://me:secret@127.0.0.1:1/belfry",
      AWS_ENDPOINT_URL: "http://127.0.0.1:1",
    });
    expect(status).toBe(1);
    expect(stderr).toContain("127.0.0.1:1/belfry");
    expect(stderr).not.toContain("secret");
  });
});
