/**
 * `node bench/k6/taskflow.ts [--api URL] [--clients N] [--seconds N] [--jobs N] [--idle-seconds N]`, with Node 24: the mix of `taskflow.js`,
 * without k6. Clients ask as fast as they are answered, two with each key, until there are so many jobs; then every job is followed to
 * its end. Each job works for four seconds, of which the local stage runs twenty at once: five jobs a second.
 */
import { parseArgs } from "node:util";
import { setTimeout as wait } from "node:timers/promises";
import { create, type Request } from "../../examples/taskflow/requests.ts";

const { values } = parseArgs({
  options: {
    api: { type: "string", default: "http://127.0.0.1:4400" },
    clients: { type: "string", default: "50" },
    seconds: { type: "string", default: "10" },
    jobs: { type: "string", default: "1000" },
    "idle-seconds": { type: "string", default: "60" },
  },
});
const beganMs = performance.now();
const until = beganMs + Number(values.seconds) * 1_000;
const jobsMax = Number(values.jobs);
const tellMs = 5_000;
const run = Math.floor(performance.timeOrigin).toString(36);
const tookMs: number[] = [];
const jobs = new Map<string, { id: string; type: Request["type"] }>();
let wrong = 0;

await Promise.all(Array.from({ length: Number(values.clients) }, (_, client) => drive(client)));
const loadSeconds = (performance.now() - beganMs) / 1_000;
const misled = await follow(Number(values["idle-seconds"]) * 1_000);
const sorted = tookMs.toSorted((a, b) => a - b);
const at = (share: number): number => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0);
const rate = Math.round(sorted.length / loadSeconds);
console.log(
  `${sorted.length} requests, ${jobs.size} jobs, ${rate}/s, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, ${wrong} wrong answers`,
);
console.log(misled.length === 0 ? "every job ended as its type must" : `not as they must: ${misled.join(", ")}`);
process.exitCode = wrong === 0 && misled.length === 0 && sorted.length > 0 ? 0 : 1;

/** Two clients share each key: they must get the same job. */
async function drive(client: number): Promise<void> {
  const n = Math.floor(client / 2);
  const type = n % 10 === 9 ? "rejected" : n % 7 === 3 ? "flaky" : "succeed";
  for (let turn = 0; performance.now() < until && jobs.size < jobsMax; turn++) {
    const key = `k6-${run}-${n}-${turn}`;
    const startedMs = performance.now();
    const { status, jobId } = await create(values.api, { job_key: key, type, payload: { report: key } });
    tookMs.push(performance.now() - startedMs);
    const known = jobs.get(key)?.id ?? jobId;
    jobs.set(key, { id: known, type });
    if ((status !== 200 && status !== 201) || known !== jobId) wrong += 1;
  }
}

/** Until all have ended, or none has for so long. @returns the keys whose job has not ended as its type must. */
async function follow(idleMsMax: number): Promise<readonly string[]> {
  const left = new Set(jobs.keys());
  const startMs = performance.now();
  let [movedMs, shownMs] = [startMs, startMs];
  while (left.size > 0 && performance.now() - movedMs < idleMsMax) {
    const before = left.size;
    await look(left);
    const nowMs = performance.now();
    if (left.size < before) movedMs = nowMs;
    if (nowMs - shownMs >= tellMs) {
      const ended = jobs.size - left.size;
      const secondsLeft = ended === 0 ? "?" : Math.ceil(((nowMs - startMs) / 1_000 / ended) * left.size);
      console.error(`${ended} of ${jobs.size} ended, about ${secondsLeft} s left`);
      shownMs = nowMs;
    }
    if (left.size > 0) await wait(1_000);
  }
  return [...left];
}

/** Each that is left: those whose attempts failed end behind the others, so none may stand in front of the rest. */
async function look(left: Set<string>): Promise<void> {
  for (const key of left) if (await hasEndedRight(key)) left.delete(key);
}

async function hasEndedRight(key: string): Promise<boolean> {
  const answer = await fetch(`${values.api}/apps/taskflow/jobs/${key}`);
  const { status, attempts } = (await answer.json()) as { status: string; attempts: { error_code: string | null }[] };
  const codes = attempts.map(({ error_code: code }) => code);
  const type = jobs.get(key)?.type;
  if (type === "rejected") return status === "FAILED" && codes.includes("HTTP_422");
  return status === "SUCCESS" && (type !== "flaky" || codes.includes("HTTP_503"));
}
