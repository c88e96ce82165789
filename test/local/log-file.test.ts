/** On Linux's /dev/full, which takes no byte: the error of a full disk without one. */
import { readFileSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { LogFile } from "../../src/local/process/log-file.ts";
import { freshFolder } from "./folder.ts";
import { until } from "./until.ts";

test("a full disk costs lines, not the process: it is said once with the folder, and the log goes on when there is space", async () => {
  const folder = freshFolder();
  const file = join(folder, "worker.log");
  symlinkSync("/dev/full", file);
  const problems: string[] = [];
  const log = new LogFile(file, (problem) => problems.push(problem));
  onTestFinished(() => log.end());
  await until("the problem", () => {
    log.write("lost");
    return problems[0];
  });
  expect(problems).toEqual([
    expect.stringMatching(`^${file} cannot be written \\(ENOSPC.*; \\d+ MB free in ${folder}\\)`),
  ]);
  renameSync(file, `${file}.full`);
  const written = await until("a line in the file", () => {
    log.write("kept");
    return readOrNull(file);
  });
  expect(written).toContain("kept");
  expect(problems).toHaveLength(1);
});

function readOrNull(file: string): string | null {
  try {
    return readFileSync(file, "utf8") || null;
  } catch {
    return null;
  }
}
