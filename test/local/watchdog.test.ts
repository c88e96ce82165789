import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { type ProcessUse, useOf } from "../../src/local/process/operating-system.ts";
import { judgeOf } from "../../src/local/watchdog.ts";

/** One judgement after this many looks; each adds so much processor time. */
function judged(state: ProcessUse["state"], looks: number, cpuMsEach: number, patience = 1): string | null {
  const judge = judgeOf(patience);
  let why: string | null = null;
  for (let look = 0; look < looks; look += 1) why ??= judge.look({ state, cpuMs: look * cpuMsEach });
  return why;
}

test.each([
  ["burns the processor without a turn", judged("runs", 6, 2_000), "ran for 10 s without a turn of its event loop"],
  ["gets a tenth of a processor", judged("runs", 50, 200), null],
  ["gets none of a starved machine", judged("runs", 10_000, 0), null],
  ["is stopped", judged("stopped", 5, 0), "was stopped for 10 s"],
  ["waits for a disk", judged("sleeps", 59, 0), null],
  ["waits for ever", judged("sleeps", 60, 0), "did nothing for 120 s"],
  ["has hung once before", judged("stopped", 9, 0, 2), null],
])("a process that %s", (_, why, expected) => {
  expect(why).toBe(expected);
});

test("a turn of the event loop begins everything again", () => {
  const judge = judgeOf(1);
  const looks = Array.from({ length: 40 }, (_, look) => {
    if (look % 4 === 0) judge.turned();
    return judge.look({ state: "stopped", cpuMs: look * 2_000 });
  });
  expect(looks.filter((why) => why !== null)).toEqual([]);
});

test("the operating system says what a process does", async () => {
  const child = spawn(process.execPath, ["-e", "process.stdout.write('.'); for (;;);"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  const pid = child.pid ?? -1;
  await expect.poll(() => useOf(pid)?.cpuMs).toBeGreaterThan(100);
  expect(useOf(pid)?.state).toBe("runs");
  child.kill("SIGSTOP");
  await expect.poll(() => useOf(pid)?.state).toBe("stopped");
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(useOf(pid)).toBeNull();
});
