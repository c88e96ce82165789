import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { startFakes } from "../../src/local/fakes.ts";
import { Children } from "../../src/local/process/children.ts";
import { NotReady } from "../../src/local/process/ready-child.ts";
import { freePort } from "../../src/local/process/free-port.ts";
import { freshFolder } from "./folder.ts";

const stopMs = 5_000;
const target = fileURLToPath(new URL("../../examples/batch-scheduler/fakes/files.ts", import.meta.url));

function newHome() {
  const home = freshFolder();
  const children = new Children(home);
  onTestFinished(() => children.stopAll(stopMs));
  return { home, children };
}

/** A target, and a seed of that code, given its address. */
async function starting(seed: string) {
  const { home, children } = newHome();
  const file = join(home, "seed.mjs");
  writeFileSync(file, seed);
  const port = await freePort();
  const address = `http://127.0.0.1:${port}/reports/0001.csv`;
  const fakes = [
    { name: "seed", file, once: true },
    { name: "batch-scheduler-files", file: target, once: false },
  ];
  return {
    address,
    children,
    started: startFakes(fakes, { children, home, env: { ADDRESS: address }, portOf: () => port }),
  };
}

test("what a seed writes may be tried at once: every target serves before the first seed runs", async () => {
  const { address, started } = await starting(`if (!(await fetch(process.env.ADDRESS)).ok) process.exitCode = 1;`);
  const { env, stop } = await started;
  expect(address).toContain(`${env["FILES_URL"]}/`);
  await stop();
  await expect(fetch(address)).rejects.toThrow("fetch failed");
});

test("a seed that fails is reported with what it wrote, and leaves no target behind", async () => {
  const { address, children, started } = await starting(`console.error("no such table"); process.exitCode = 3;`);
  await expect(started).rejects.toThrow("seed failed with code 3:\nno such table");
  expect(children.running()).toEqual([]);
  await expect(fetch(address)).rejects.toThrow("fetch failed");
});

test("a target that never gets ready ends the start, and its siblings with it", async () => {
  const { home, children } = newHome();
  const still = join(home, "still.mjs");
  writeFileSync(still, "setInterval(() => {}, 100_000);");
  const fakes = [
    { name: "still", file: still, once: false },
    { name: "batch-scheduler-files", file: target, once: false },
  ];
  await expect(startFakes(fakes, { children, home, env: {}, idleMsMax: 3_000 })).rejects.toThrow(NotReady);
  expect(children.running()).toEqual([]);
});
