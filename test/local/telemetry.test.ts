import { spawnSync } from "node:child_process";
import { bareEnvironment } from "../support/bare-environment.ts";
import { expect, it } from "vitest";

/** What a process with another zone writes, line by line. */
function written(code: string): Record<string, unknown>[] {
  const log = new URL("../../src/aws/telemetry/log.ts", import.meta.url).href;
  const metrics = new URL("../../src/aws/telemetry/metrics.ts", import.meta.url).href;
  const program = `import { createLog } from ${JSON.stringify(log)}; import { createMetrics } from ${JSON.stringify(metrics)};\n${code}`;
  const run = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
    encoding: "utf8",
    env: { TZ: "Asia/Seoul", ...bareEnvironment },
  });
  const lines = `${run.stdout}${run.stderr}`.split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

it("logs one JSON line each, in UTC, with the fields of every parent", () => {
  const [line] = written(`
    const log = createLog({ service: "worker", level: "info", fields: { stage: "dev" } });
    log.child({ trace: "t1" }).child({ job: "7" }).info("claimed", { attempt: 2 });
    log.debug("too quiet");`);
  expect(line).toMatchObject({
    level: "INFO",
    message: "claimed",
    service: "worker",
    stage: "dev",
    trace: "t1",
    job: "7",
    attempt: 2,
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
  });
});

it("keeps the message and the stack of an error", () => {
  const [line] = written(
    `createLog({ service: "worker", level: "info" }).error("failed", { error: new Error("why") });`,
  );
  expect(line?.["error"]).toMatchObject({
    name: "Error",
    message: "why",
    stack: expect.stringContaining("Error: why") as string,
  });
});

it("writes metrics in the embedded format, one line for each set of dimensions, once", () => {
  const lines = written(`
    const metrics = createMetrics({ system: "shop", stage: "dev", laneOf: () => "default" });
    metrics.add("job.claimed", 1); metrics.add("job.claimed", 2);
    metrics.add("job.duration", 5, "Milliseconds", { job: "hello" });
    metrics.flush(); metrics.flush();`);
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatchObject({
    service: "shop",
    stage: "dev",
    "job.claimed": [1, 2],
    _aws: { CloudWatchMetrics: [{ Namespace: "Belfry", Dimensions: [["service", "stage"]] }] },
  });
  expect(lines[1]).toMatchObject({ stage: "dev", job: "hello", "job.duration": 5 });
});

it("keeps the dimensions of a set after a flush", () => {
  const lines = written(`
    const metrics = createMetrics({ system: "shop", stage: "dev", laneOf: () => "default" });
    for (const value of [1, 2]) { metrics.add("job.duration", value, "Milliseconds", { job: "hello" }); metrics.flush(); }`);
  expect(lines.map(({ stage, job }) => [stage, job])).toEqual([
    ["dev", "hello"],
    ["dev", "hello"],
  ]);
});
