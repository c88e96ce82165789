import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { z } from "zod";
import { curlOf, guideOf } from "../../scripts/api-guide.ts";
import { operationsText } from "../../scripts/endpoints.ts";
import { defineApp } from "../../src/define/define-app.ts";
import { defineGraph } from "../../src/define/define-graph.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { graphPlan } from "../support/graph-plan.ts";
import type { OperationName } from "../../src/api/api.ts";
import { serveApi } from "../cli/harness.ts";
import { endpoints } from "./document.ts";

const guide = readFileSync(new URL("../../docs/api.md", import.meta.url), "utf8");
const hello = defineJob({ id: "hello", run() {} });
const report = defineJob({ id: "report", concurrency: 2, run() {} });
const steps = defineGraph({
  id: "steps",
  version: 1,
  tasks(task) {
    const first = task("first", { run: () => null });
    task.waitFor("approved", { after: { first }, payload: z.object({ by: z.string() }), timeout: "1d" });
  },
});
const app = defineApp({ name: "guide", jobs: [hello, report, steps], schedules: [] });

/** What has to happen before what: the others follow in the order of the guide. */
const first: readonly OperationName[] = [
  "createSchedule",
  "createJob",
  "cancelJob",
  "retryJob",
  "signalRun",
  "cancelRun",
  "retryRun",
];
const last: readonly OperationName[] = ["deleteSchedule"];

test("the command line knows every operation as the endpoints have it", () => {
  const kept = readFileSync(new URL("../../src/cli/operations.json", import.meta.url), "utf8");
  expect(kept, "run node scripts/api-guide.ts").toBe(operationsText());
});

test("docs/api.md is what the endpoints say: node scripts/api-guide.ts writes it", () => {
  expect(guide).toBe(guideOf(endpoints));
});

test("every request of docs/api.md is answered by the server as the guide says", async () => {
  const { url, call, store, documentation } = await serveApi({}, [app]);
  const { body: job } = await call("POST", "/jobs", { kind: "hello", delay: "1h" });
  const { body: bulk } = await call("POST", "/bulk", { action: "retry", filter: { kind: "hello" } });
  const { runId: run } = await store.startRun(await graphPlan([app], "steps"));
  const { body: started } = await call("POST", "/jobs", { kind: "hello" });
  await store.claim([{ jobId: started.id, generation: 1, trace: "" }], { worker: "w", alone: false });
  const attempts = { "/jobs/42/attempts": `/jobs/${started.id}/attempts` };
  const names = {
    ...attempts,
    "/jobs/42": `/jobs/${job.id}`,
    "/runs/7": `/runs/${run}`,
    "/bulk/3": `/bulk/${bulk.id}`,
  };
  const ordered = [
    ...first,
    ...endpoints.map(({ name }) => name).filter((name) => ![...first, ...last].includes(name)),
  ];
  const shown = [...ordered, ...last].map((name) => {
    const endpoint = endpoints.find((each) => each.name === name);
    if (endpoint === undefined) throw new Error(`${name} is no endpoint`);
    return { name, replies: Object.keys(endpoint.replies), line: curlOf(endpoint) };
  });
  for (const { line } of shown) expect(guide).toContain(`\n${line}\n`);
  const lines = shown.map(({ line }) =>
    Object.entries(names).reduce((text, [from, to]) => text.replace(from, to), line),
  );
  for (const [n, { body, status }] of (await shell(lines, url)).entries()) {
    const { name, replies = [] } = shown[n] ?? {};
    expect({ name, body, known: [...replies, "200"].includes(status) }).toMatchObject({ name, known: true });
  }
  const stream = await fetch(`${url}/events`, { headers: { accept: "text/event-stream" } });
  expect({ status: stream.status, type: stream.headers.get("content-type") }).toMatchObject({
    status: 200,
    type: expect.stringContaining("text/event-stream"),
  });
  await stream.body?.cancel();
  expect([...documentation.seen].toSorted(), "answered with success, as the document says").toEqual(
    endpoints.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`).toSorted(),
  );
});

/** In one shell: a process of this size takes longer to start one than curl needs. */
async function shell(lines: readonly string[], url: string): Promise<readonly { body: string; status: string }[]> {
  const env = { ...process.env, BELFRY_URL: url };
  const script = ["set -e", ...lines.map((line) => `${line} -w '\\n%{http_code}\u001E'`)].join("\n");
  const { stdout } = await promisify(execFile)("bash", ["-c", script], { env, timeout: 100_000 });
  const answers = stdout.split("\u001E").slice(0, -1);
  expect(answers).toHaveLength(lines.length);
  return answers.map((answer) => {
    const end = answer.lastIndexOf("\n");
    return { body: answer.slice(0, Math.min(end, 300)), status: answer.slice(end + 1) };
  });
}
