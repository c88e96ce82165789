import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { AlreadyRunning, claimHome } from "../../src/local/home.ts";
import { keepSealKey } from "../../src/local/services/parts.ts";
import { identityOf } from "../../src/local/process/operating-system.ts";
import { freshFolder } from "./folder.ts";

it("says to the second start which process runs and where", () => {
  const folder = freshFolder();
  const home = claimHome(folder, "dev");
  home.announce({ env: {}, api: "http://127.0.0.1:4400" });
  expect(() => claimHome(folder, "dev")).toThrow(AlreadyRunning);
  expect(() => claimHome(folder, "dev")).toThrow(`process ${process.pid}, http://127.0.0.1:4400`);
});

it("is a folder that no other user may look into", () => {
  const folder = join(freshFolder(), "home");
  claimHome(folder, "dev");
  expect((statSync(folder).mode & 0o777).toString(8)).toBe("700");
});

it("can be taken again after a release", () => {
  const folder = freshFolder();
  claimHome(folder, "dev").release();
  expect(() => claimHome(folder, "dev")).not.toThrow();
});

it("is taken over from a process that was killed", async () => {
  const folder = freshFolder();
  const other = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
  onTestFinished(() => void other.kill("SIGKILL"));
  await once(other, "spawn");
  const identity = identityOf(other.pid ?? 0);
  writeFileSync(join(folder, "system.json"), JSON.stringify({ ...identity, stage: "dev", api: null }));
  expect(() => claimHome(folder, "dev")).toThrow(`process ${other.pid}`);
  other.kill("SIGKILL");
  await once(other, "exit");
  claimHome(folder, "dev");
  expect(JSON.parse(readFileSync(join(folder, "system.json"), "utf8"))).toMatchObject({ pid: process.pid });
});

it("is not confused by another process that got the same pid later", () => {
  const folder = freshFolder();
  writeFileSync(
    join(folder, "system.json"),
    JSON.stringify({ pid: 1, startedAt: "long ago", stage: "dev", api: null }),
  );
  expect(() => claimHome(folder, "dev")).not.toThrow();
});

it("keeps the key of sealed payloads, says when it was lost, and does not replace one that is damaged", () => {
  const folder = freshFolder();
  const losses: string[] = [];
  const keep = () => keepSealKey(folder, (loss) => losses.push(loss));
  const key = keep();
  expect([keep(), losses]).toEqual([key, []]);
  mkdirSync(join(folder, "postgres"));
  rmSync(join(folder, "seal-key"));
  expect(keep()).not.toBe(key);
  expect(losses).toEqual([expect.stringContaining(`only with the old ${join(folder, "seal-key")}`)]);
  writeFileSync(join(folder, "seal-key"), key.slice(0, -9));
  expect(keep).toThrow(/seal-key holds no key, which is "local:" and 32 bytes in base64: put the file back/);
});
