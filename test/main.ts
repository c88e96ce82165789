/**
 * `npm test`: the whole suite in UTC, then everything that could depend on a zone in two others.
 * Closes with one line of totals over all runs.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface Totals {
  passed: number;
  failed: number;
  skipped: number;
}

const zoned = ["test/schedules", "test/definitions", "test/core", "test/contract", "test/api", "test/cli"];
/** Slow, and about processes and nonsense: no zone changes them. */
const unzoned = ["test/cli/console.test.ts", "test/cli/init.test.ts", "test/api/fuzz.test.ts"];
const runs: readonly { zone: string; paths: readonly string[] }[] = [
  { zone: "UTC", paths: [] },
  { zone: "Asia/Seoul", paths: [...zoned, ...unzoned.map((file) => `--exclude=${file}`)] },
  { zone: "Pacific/Apia", paths: [...zoned, ...unzoned.map((file) => `--exclude=${file}`)] },
];

const folder = mkdtempSync(join(tmpdir(), "belfry-test-"));
const totals: Totals = { passed: 0, failed: 0, skipped: 0 };
let exitCode = 0;
try {
  const only = process.argv.slice(2);
  for (const { zone, paths } of only.length > 0 ? [{ zone: "UTC", paths: only }] : runs) {
    process.stdout.write(`\nTZ=${zone}\n`);
    const report = join(folder, `${zone.replaceAll("/", "-")}.json`);
    const run = spawnSync(
      "vitest",
      ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`, ...paths],
      { stdio: "inherit", env: { ...process.env, TZ: zone } },
    );
    if (run.status !== 0) exitCode = 1;
    add(totals, report);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const skipped = totals.skipped > 0 ? `, ${totals.skipped} skipped` : "";
process.stdout.write(`\n${totals.passed} passed, ${totals.failed} failed${skipped}\n`);
process.exitCode = exitCode;

function add(sum: Totals, report: string): void {
  const result = JSON.parse(readFileSync(report, "utf8")) as {
    numPassedTests: number;
    numFailedTests: number;
    numPendingTests: number;
    numFailedTestSuites: number;
  };
  sum.passed += result.numPassedTests;
  sum.failed += result.numFailedTests;
  sum.skipped += result.numPendingTests;
  if (result.numFailedTests === 0 && result.numFailedTestSuites > 0) sum.failed += result.numFailedTestSuites;
}
