/**
 * `node bench/k6/taskflow.ts [--api URL] [--clients N] [--seconds N] [--end-seconds N]`, with Node 24: what `taskflow.js` does, without
 * k6. A mix of requests under load, two clients for each key, and every job followed to its end.
 */
import { parseArgs } from "node:util";
import { setTimeout as wait } from "node:timers/promises";
import { create, type Request } from "../../examples/taskflow/requests.ts";

const { values } = parseArgs({
  options: {
    api: { type: "string", default: "http://127.0.0.1:4400" },
    clients: { type: "string", default: "50" },
    seconds: { type: "string", default: "10" },
    "end-seconds": { type: "string", default: "600" },
  },
});
const until = performance.now() + Number(values.seconds) * 1_000;
const run = Math.floor(performance.timeOrigin).toString(36);
const tookMs: number[] = [];
const jobs = new Map<string, { id: string; type: Request["type"] }>();
let wrong = 0;

await Promise.all(Array.from({ length: Number(values.clients) }, (_, client) => drive(client)));
const misled = await follow(performance.now() + Number(values["end-seconds"]) * 1_000);
const sorted = tookMs.toSorted((a, b) => a - b);
const at = (share: number): number => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0);
const rate = Math.round(sorted.length / Number(values.seconds));
console.log(
  `${sorted.length} requests, ${jobs.size} jobs, ${rate}/s, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, ${wrong} wrong answers`,
);
console.log(misled.length === 0 ? "every job ended as its type must" : `not as they must: ${misled.join(", ")}`);
process.exitCode = wrong === 0 && misled.length === 0 && sorted.length > 0 ? 0 : 1;

/** Two clients share each key: they must get the same job. */
async function drive(client: number): Promise<void> {
  const n = Math.floor(client / 2);
  const type = n % 10 === 9 ? "rejected" : n % 7 === 3 ? "flaky" : "succeed";
  for (let turn = 0; performance.now() < until; turn++) {
    const key = `k6-${run}-${n}-${turn}`;
    const startedMs = performance.now();
    const { status, jobId } = await create(values.api, { job_key: key, type, payload: { report: key } });
    tookMs.push(performance.now() - startedMs);
    const known = jobs.get(key)?.id ?? jobId;
    jobs.set(key, { id: known, type });
    if ((status !== 200 && status !== 201) || known !== jobId) wrong += 1;
  }
}

/** @returns the keys whose job had not ended as its type must when the time was over. */
async function follow(endMs: number): Promise<readonly string[]> {
  const left = new Set(jobs.keys());
  while (left.size > 0 && performance.now() < endMs) {
    for (const key of left) if (await hasEndedRight(key)) left.delete(key);
    if (left.size > 0) await wait(1_000);
  }
  return [...left];
}

async function hasEndedRight(key: string): Promise<boolean> {
  const answer = await fetch(`${values.api}/apps/taskflow/jobs/${key}`);
  const { status, attempts } = (await answer.json()) as { status: string; attempts: { error_code: string | null }[] };
  const codes = attempts.map(({ error_code: code }) => code);
  const type = jobs.get(key)?.type;
  if (type === "rejected") return status === "FAILED" && codes.includes("HTTP_422");
  return status === "SUCCESS" && (type !== "flaky" || codes.includes("HTTP_503"));
}
