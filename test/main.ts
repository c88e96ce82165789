/**
 * `npm test`: what computes times in a zone a day ahead, beside it the rest in UTC, where a time of the machine's zone looks right.
 * `npm run test:long`: the long tests, what computes and stores times in one more zone, then what sends and shows them a day ahead.
 * `npm test -- FILE...` runs those files in UTC, with any option of vitest.
 * Closes with every failure, because a log is read from its end, and one line of totals.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";

interface Totals {
  passed: number;
  skipped: number;
  failures: string[];
}

/** Vitest's JSON report, as far as it is read here. */
interface Report {
  numPassedTests: number;
  numPendingTests: number;
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: { fullName: string; status: string; failureMessages: string[] | null }[];
  }[];
}

/** Enough for an assertion's values and the line it stands on; the whole text stands where the test ran. */
const failureLinesMax = 30;

/** Where times are computed; where they are stored; where they are sent and shown; and what is slow and about none of it. */
const computed = ["test/schedules", "test/definitions"];
const elsewhere = [...computed, "test/schedules-control"].map((folder) => `--exclude=${folder}/**`);
const stored = ["test/core", "test/contract"];
const shown = ["test/api", "test/cli"];
const unzoned = [
  "api/redaction-matrix",
  "api/scopes",
  "api/standing-database",
  "cli/console",
  "cli/init",
  "cli/exit-codes",
];
const without = unzoned.map((name) => `--exclude=test/${name}.test.ts`);
const suite = ["--project=pure", "--project=patching", "--project=examples", "--project=postgres"];
/** Each run has random histories of its own: a quarter of those that the long tests have. */
const env = { HISTORIES: "250" };

interface Run {
  readonly zone: string;
  readonly args: readonly string[];
  readonly env?: Record<string, string>;
}

const short: readonly Run[] = [
  { zone: "UTC", args: [...suite, ...elsewhere], env },
  // Computes while the tests of the other run wait.
  { zone: "Pacific/Apia", args: [...suite, ...computed, "--maxWorkers=1"], env },
];
const long: readonly Run[] = [
  { zone: "UTC", args: ["--project=long"] },
  { zone: "UTC", args: [...suite, ...computed] },
  { zone: "Asia/Seoul", args: [...suite, ...computed, ...stored, ...without] },
  { zone: "Pacific/Apia", args: [...suite, ...shown, ...without] },
];

const folder = mkdtempSync(join(tmpdir(), "belfry-test-"));
const totals: Totals = { passed: 0, skipped: 0, failures: [] };
let exitCode = 0;
try {
  const given = process.argv.slice(2);
  if (given.length === 0) await Promise.all(short.map(judge));
  else for (const run of given[0] === "--long" ? long : [{ zone: "UTC", args: given }]) await judge(run);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const skipped = totals.skipped > 0 ? `, ${totals.skipped} skipped` : "";
for (const failure of totals.failures) process.stdout.write(`\n${failure}\n`);
process.stdout.write(`\n${totals.passed} passed, ${totals.failures.length} failed${skipped}\n`);
process.exitCode = exitCode;

/** What runs beside the first shows its output at its end. */
async function judge({ zone, args, env }: Run, place = 0): Promise<void> {
  const file = join(folder, zone.replaceAll("/", "-"));
  const [report, output] = [`${file}.json`, `${file}.log`];
  const out = place === 0 ? "inherit" : openSync(output, "w");
  if (place === 0) process.stdout.write(`\nTZ=${zone}\n`);
  const run = spawn(
    "vitest",
    ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`, ...args],
    {
      stdio: ["inherit", out, out],
      env: { ...process.env, ...env, TZ: zone },
    },
  );
  await once(run, "exit");
  if (place > 0) process.stdout.write(`\nTZ=${zone}\n${readFileSync(output, "utf8")}`);
  const before = totals.failures.length;
  // A run that was killed leaves no report; the other goes on.
  if (existsSync(report)) add(totals, zone, JSON.parse(readFileSync(report, "utf8")) as Report);
  if (run.exitCode === 0) return;
  exitCode = 1;
  if (totals.failures.length === before) totals.failures.push(failure(zone, "outside of a test", "see its run above"));
}

function add(sum: Totals, zone: string, report: Report): void {
  sum.passed += report.numPassedTests;
  sum.skipped += report.numPendingTests;
  for (const file of report.testResults) {
    const path = relative(process.cwd(), file.name);
    const failed = file.assertionResults.filter(({ status }) => status === "failed");
    for (const { fullName, failureMessages } of failed) {
      sum.failures.push(failure(zone, `${path} > ${fullName}`, (failureMessages ?? []).join("\n")));
    }
    // A file that could not be loaded, or whose hook failed, has no failed test of its own.
    if (file.status === "failed" && failed.length === 0) sum.failures.push(failure(zone, path, file.message));
  }
}

function failure(zone: string, where: string, message: string): string {
  return `FAILED TZ=${zone} ${where}\n${message.split("\n").slice(0, failureLinesMax).join("\n")}`;
}
