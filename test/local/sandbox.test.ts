import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { Children } from "../../src/local/process/children.ts";
import { identityOf } from "../../src/local/process/process-identity.ts";
import { createSandbox } from "../../src/local/lambda/sandbox.ts";
import { freshFolder } from "./folder.ts";
import { until } from "./until.ts";

const file = fileURLToPath(new URL("./app/function.ts", import.meta.url));

function begin(options: { timeoutMs?: number; file?: string } = {}) {
  const children = new Children(freshFolder());
  const sandbox = createSandbox({
    children,
    name: "worker test",
    file: options.file ?? file,
    env: { PATH: process.env["PATH"] ?? "" },
    timeoutMs: options.timeoutMs ?? 40_000,
  });
  onTestFinished(() => children.stopAll(0));
  return { children, sandbox };
}

it("answers from a process of its own, again and again, and knows its remaining time", async () => {
  const { sandbox } = begin();
  const first = (await sandbox.invoke({ do: "answer" })) as { pid: number; remainingMs: number };
  const second = (await sandbox.invoke({ do: "answer" })) as { pid: number };
  expect(first.pid).toBe(sandbox.pid);
  expect(second.pid).toBe(first.pid);
  expect(first.remainingMs).toBeGreaterThan(20_000);
  expect(first.remainingMs).toBeLessThanOrEqual(40_000);
});

it("fails the invocation when the function throws, and lives on", async () => {
  const { sandbox } = begin();
  await expect(sandbox.invoke({ do: "throw" })).rejects.toThrow("the function threw");
  expect(await sandbox.invoke({ do: "nothing" })).toBeNull();
});

it("is killed when an invocation takes longer than its timeout, even one that never lets go of the processor", async () => {
  const { sandbox } = begin({ timeoutMs: 1_500 });
  await sandbox.ready;
  await expect(sandbox.invoke({ do: "spin" })).rejects.toThrow("longer than 1500 ms");
  await sandbox.ended;
  expect(identityOf(sandbox.pid)).toBeNull();
});

it("fails the invocation when its process ends", async () => {
  const { sandbox } = begin();
  await expect(sandbox.invoke({ do: "exit" })).rejects.toThrow("ended with code 7");
  await expect(sandbox.invoke({ do: "answer" })).rejects.toThrow("ended before the invocation");
});

it("is not ready when its file cannot be imported", async () => {
  const { sandbox } = begin({ file: "/nowhere/function.ts" });
  await expect(sandbox.ready).rejects.toThrow("ended with code 1");
});

it("is recorded while it runs, so that the next start can end what a kill left behind", async () => {
  const home = freshFolder();
  const before = new Children(home);
  onTestFinished(() => before.killAll());
  const child = before.start({ name: "leftover", args: ["-e", "setInterval(() => {}, 1000)"], env: {} });
  const pid = child.pid ?? 0;
  expect(identityOf(pid)).not.toBeNull();
  expect(await new Children(home).endLeftovers()).toEqual(["leftover"]);
  await until("its end", () => identityOf(pid) === null);
  expect(await new Children(home).endLeftovers()).toEqual([]);
});
