import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { until } from "../local/until.ts";
import { belfry, emptyFolder, shapeOf } from "./harness.ts";

const slowMs = 120_000;

test("init makes an app that starts as it says, and whose job runs", async () => {
  const folder = emptyFolder();
  const made = await belfry(["init", "reports", "--json"], { folder });
  expect(made).toMatchObject({ code: 0, json: { folder: join(folder, "reports") } });
  const cwd = join(folder, "reports");
  expect(readdirSync(cwd).toSorted()).toEqual([".gitignore", "app.ts", "index.ts", "package.json"]);
  execFileSync("npm", ["install", "--offline", "--no-audit", "--no-fund"], { cwd, stdio: "ignore" });
  const child = spawn("npm", ["-s", "start", "--", "--json"], {
    cwd,
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  const exited = once(child, "close");
  // As Ctrl-C in a terminal: to every process of the group.
  const interrupt = (): void =>
    void ((child.exitCode ?? child.signalCode) === null && process.kill(-(child.pid ?? 0), "SIGINT"));
  onTestFinished(interrupt);
  const lines: { is: string; urls?: { api: string } }[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(JSON.parse(line) as (typeof lines)[number]));
  const started = await until("the start", () => lines.find((line) => line.is === "started"), slowMs);
  expect(shapeOf(started)).toMatchSnapshot("dev");
  const url = started.urls?.api ?? "";
  const run = await belfry(["jobs", "enqueue", "reports-greet", "--wait", "--json", "--url", url]);
  expect(run).toMatchObject({ code: 0, json: { state: "SUCCESS" } });
  interrupt();
  await exited;
}, 240_000);

test("init overwrites nothing, and takes no name that an app could not have", async () => {
  const folder = emptyFolder();
  writeFileSync(join(folder, "mine.txt"), "");
  expect(await belfry(["init", ".", "--json"], { folder })).toMatchObject({ code: expect.toBeOneOf([2, 5]) as number });
  expect((await belfry(["init", "a"], { folder })).code).toBe(0);
  expect((await belfry(["init", "a"], { folder })).code).toBe(5);
  expect((await belfry(["init", "Bad Name"], { folder })).code).toBe(2);
  expect((await belfry(["init"], { folder })).code).toBe(2);
});
