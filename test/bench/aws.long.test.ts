import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { drive } from "../../bench/aws/drive.ts";
import { apiClient } from "../../src/cli/client.ts";
import { begin, newApp, slowMs } from "../local/greeting-system.ts";

const script = fileURLToPath(new URL("../../bench/aws/main.ts", import.meta.url));

/** Beside this process, which holds the local queues. */
async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const own = { PATH: process.env["PATH"], HOME: "/nonexistent", AWS_EC2_METADATA_DISABLED: "true", ...env };
  const child = spawn(process.execPath, [script, ...args], { env: own });
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  return { status: status as number, stdout, stderr };
}

test(
  "the driver sends at its rate, and times each job by its row from the API alone",
  { timeout: 2 * slowMs },
  async () => {
    const { home, app } = newApp("hello");
    const system = await begin(home, app);
    const api = apiClient(system.urls.api ?? "");
    const load = { kind: "greet", prefix: "bench-aws-test-", rate: { perSecond: 20, seconds: 3 }, settleMsMax: slowMs };
    const driven = await drive(api, load);
    expect(driven).toMatchObject({ sent: 60, refused: 0, settled: 60, failed: 0, left: 0 });
    expect(driven.settledPerSecond).toBeGreaterThan(5);
    expect(driven.endMs.p99).toBeGreaterThanOrEqual(driven.startMs.p99);
    expect(driven.endMs.p50).toBeGreaterThan(0);

    const whole = await run([
      "--url",
      system.urls.api ?? "",
      "--kind",
      "greet",
      "--rates",
      "10",
      "--minutes",
      "0.05",
      "--yes",
      "--json",
    ]);
    expect(whole).toMatchObject({ status: 0 });
    expect(JSON.parse(whole.stdout)).toMatchObject({ pass: true, results: [{ sent: 30, settled: 30 }] });
  },
);

test("what has not settled in time is canceled, and counted as left", { timeout: 2 * slowMs }, async () => {
  const { home, app } = newApp("hello");
  const system = await begin(home, app);
  const api = apiClient(system.urls.api ?? "");
  await api.call("pauseLane", { name: "default" }, { reason: "bench" });
  const load = { kind: "greet", prefix: "bench-aws-held-", rate: { perSecond: 5, seconds: 1 }, settleMsMax: 1 };
  expect(await drive(api, load)).toMatchObject({ sent: 5, settled: 0, left: 5, settledPerSecond: 0 });
  const { jobs } = await api.call("listJobs", { kind: "greet", state: "CANCELED" });
  expect(jobs.filter(({ key }) => key?.startsWith("bench-aws-held-"))).toHaveLength(5);
});

test("nothing begins without a stage, a region, credentials, or --yes after the estimate", async () => {
  expect(await run([])).toMatchObject({ status: 2, stderr: expect.stringContaining("--stage NAME") as string });
  expect((await run(["--stage", "small", "--yes"])).stderr).toContain("AWS_REGION is not set");
  const region = { AWS_REGION: "us-east-1" };
  expect(await run(["--stage", "small", "--yes"], region)).toMatchObject({
    status: 2,
    stderr: expect.stringContaining("no AWS account answers") as string,
  });
  const local = await run(["--url", "http://127.0.0.1:9", "--rates", "1", "--minutes", "1"]);
  expect(local).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/60 jobs[\s\S]*USD[\s\S]*add --yes/) as string,
  });
  expect(await run(["--help"])).toMatchObject({ status: 0, stdout: expect.stringContaining("--charged") as string });
  expect((await run(["--url", "x", "--rates", "0"])).stderr).toContain("must be above 0");
}, 60_000);
