import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it, onTestFinished } from "vitest";
import { createCrashPoint, parseCrashPlans } from "../../src/stage/crash-point.ts";
import { isStopped } from "../proof/stopped.ts";
import { until } from "./until.ts";

it("reads a name, an ordinal and how to end", () => {
  expect(parseCrashPlans("claimed")).toEqual([{ name: "claimed", ordinal: 1, how: "kill" }]);
  expect(parseCrashPlans("relay.sent:2, effect.after:1:stop")).toEqual([
    { name: "relay.sent", ordinal: 2, how: "kill" },
    { name: "effect.after", ordinal: 1, how: "stop" },
  ]);
});

it.each(["", ":1", "claimed:0", "claimed:x", "claimed:1:explode", "claimed:1:kill:now"])("refuses %j", (text) => {
  expect(parseCrashPlans(text)).toBeNull();
});

it("is free to pass unless asked for", async () => {
  const pass = createCrashPoint([{ name: "claimed", ordinal: 2, how: "kill" }]);
  await pass("received");
  await expect(pass("claimed")).resolves.toBeUndefined();
});

/** Passes `claimed` three times and says so each time. Two pipes have no order between them, so each is kept apart. */
function passer(how: "kill" | "stop") {
  const module = new URL("../../src/stage/crash-point.ts", import.meta.url).href;
  const child = spawn(
    process.execPath,
    [
      "--input-type=module",
      "-e",
      `import { createCrashPoint } from ${JSON.stringify(module)};
       const pass = createCrashPoint([{ name: "claimed", ordinal: 2, how: "${how}" }]);
       for (let n = 1; n <= 3; n++) { await pass("claimed"); console.log(n); }`,
    ],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  const written = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk: Buffer) => (written.stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (written.stderr += chunk.toString()));
  onTestFinished(() => void child.kill("SIGKILL"));
  return { child, written };
}

it("kills the process at the passing it names, and not one step later", async () => {
  const { child, written } = passer("kill");
  expect(await once(child, "close")).toEqual([null, "SIGKILL"]);
  expect(written).toEqual({ stdout: "1\n", stderr: "crash point claimed:2:kill\n" });
});

it("freezes the process, which goes on at a signal", async () => {
  const { child, written } = passer("stop");
  // Not its line: a signal to go on that came between the line and the freeze would be lost.
  await until("the freeze", () => child.pid !== undefined && isStopped(child.pid));
  child.kill("SIGCONT");
  expect(await once(child, "close")).toEqual([0, null]);
  expect(written).toEqual({ stdout: "1\n2\n3\n", stderr: "crash point claimed:2:stop\n" });
});
