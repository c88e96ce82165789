import { execFileSync, spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };

const bin = fileURLToPath(new URL("../../bin/belfry.mjs", import.meta.url));

test("the installed command is executable and runs from any folder of the project", () => {
  expect(() => accessSync(bin, constants.X_OK)).not.toThrow();
  const out = execFileSync(process.execPath, [bin, "check", "--stage", "prod", "--json"], {
    cwd: fileURLToPath(new URL("../../src/machine", import.meta.url)),
    encoding: "utf8",
  });
  expect(JSON.parse(out)).toMatchObject({ ok: true, stages: [{ stage: "prod" }] });
});

test("its exit code is the command's", () => {
  const { status, stderr } = spawnSync(process.execPath, [bin, "check", "--stage", "nowhere"], { encoding: "utf8" });
  expect(status).toBe(2);
  expect(stderr).toContain("nowhere");
});

test.each(["--version", "-V", "version"])("says its version without loading anything: %s", (asked) => {
  const ran = spawnSync(process.execPath, [bin, asked], { encoding: "utf8" });
  expect(ran).toMatchObject({ status: 0, stderr: "", stdout: `${manifest.version}\n` });
});
