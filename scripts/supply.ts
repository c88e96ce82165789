/**
 * `npm run supply`: holds the licences of what is installed to the list of those allowed, checks that the list of parts
 * (`npm sbom`) names each part of the lock file, and asks the registry for known weaknesses where it answers.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { faultyLicences, missingParts } from "./supply/judge.ts";

const root = new URL("..", import.meta.url);
const npm = (...args: readonly string[]): string =>
  execFileSync("npm", args, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["ignore", "pipe", "ignore"],
  });

const bill = JSON.parse(npm("sbom", "--sbom-format=cyclonedx", "--sbom-type=application")) as Parameters<
  typeof faultyLicences
>[0];
const lock = JSON.parse(readFileSync(new URL("package-lock.json", root), "utf8")) as Parameters<typeof missingParts>[1];
const problems = [...faultyLicences(bill), ...missingParts(bill, lock)];
for (const problem of problems) console.error(problem);
console.log(`${bill.components.length} parts, ${problems.length} problems`);
console.log(weaknesses());
process.exitCode = problems.length === 0 ? 0 : 1;

/** What the registry knows of parts that are deployed; a registry without that answer is said, not passed over. */
function weaknesses(): string {
  try {
    npm("audit", "--omit=dev", "--audit-level=high");
    return "npm audit: nothing high or critical in what is deployed";
  } catch (error) {
    const { stdout = "" } = error as { stdout?: string };
    if (!stdout.includes("vulnerabilit")) return "npm audit: this registry does not answer it";
    process.exitCode = 1;
    problems.push("npm audit");
    return stdout;
  }
}
