import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { Children } from "../../src/local/process/children.ts";
import { identityOf } from "../../src/local/process/operating-system.ts";
import { createSandbox } from "../../src/local/lambda/sandbox.ts";
import { freshFolder } from "./folder.ts";
import { until } from "./until.ts";
import { bareEnvironment } from "../support/bare-environment.ts";

const file = fileURLToPath(new URL("./app/function.ts", import.meta.url));

function begin(options: { timeoutMs?: number; file?: string; heapMb?: number } = {}) {
  const causes: string[] = [];
  const heap = options.heapMb === undefined ? {} : { NODE_OPTIONS: `--max-old-space-size=${options.heapMb}` };
  const children = new Children(freshFolder());
  const sandbox = createSandbox({
    children,
    name: "worker test",
    file: options.file ?? file,
    env: { ...bareEnvironment, ...heap },
    onStill: (cause) => causes.push(cause),
    timeoutMs: options.timeoutMs ?? 40_000,
  });
  onTestFinished(() => children.stopAll(0));
  return { children, sandbox, causes };
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

it("is killed when an invocation takes longer than its timeout", async () => {
  const { sandbox, causes } = begin({ timeoutMs: 1_500 });
  await sandbox.ready;
  const cause = "the invocation took longer than its 1.5 s and its process was killed";
  await expect(sandbox.invoke({ do: "hang" })).rejects.toThrow(cause);
  // Else a pool would give it the next messages, which then are missing for minutes.
  expect(sandbox.hasEnded).toBe(true);
  expect([await sandbox.ended, causes]).toEqual([cause, []]);
  expect(identityOf(sandbox.pid)).toBeNull();
});

it("says while its event loop is blocked, and when it was killed for it", async () => {
  const { sandbox, causes } = begin({ timeoutMs: 7_000 });
  await sandbox.ready;
  await expect(sandbox.invoke({ do: "spin" })).rejects.toThrow("the handler blocked the event loop");
  expect(causes[0]).toBe("the handler blocked the event loop for 3 s");
  expect(await sandbox.ended).toMatch(/^the handler blocked the event loop for \d s and its process was killed$/);
});

it.skipIf(process.platform !== "linux")("keeps a process that was stopped apart from one that is blocked", async () => {
  const { sandbox, causes } = begin();
  await sandbox.ready;
  void sandbox.invoke({ do: "hang" }).catch(() => {});
  process.kill(sandbox.pid, "SIGSTOP");
  expect(await until("the cause", () => causes[0])).toBe("its process was stopped (SIGSTOP) for 3 s");
});

it.each([
  ["exit", {}, "its process exited with code 7"],
  ["kill", {}, "its process was killed by SIGKILL"],
  ["fill", { heapMb: 48 }, /^its process ran out of memory \(heap limit \d+ MB\)$/],
])("fails the invocation when its process ends by itself, and says why: %s", async (what, options, cause) => {
  const { sandbox } = begin(options);
  await expect(sandbox.invoke({ do: what })).rejects.toThrow("its process");
  expect(await sandbox.ended).toMatch(cause);
  await expect(sandbox.invoke({ do: "answer" })).rejects.toThrow("ended before the invocation");
});

it("is not ready when its file cannot be imported", async () => {
  const { sandbox } = begin({ file: "/nowhere/function.ts" });
  await expect(sandbox.ready).rejects.toThrow("exited with code 1");
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
