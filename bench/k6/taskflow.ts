/** `node bench/k6/taskflow.ts [--api URL] [--clients N] [--seconds N]`: what `taskflow.js` does, without k6. */
import { parseArgs } from "node:util";
import { create } from "../../examples/taskflow/requests.ts";

const { values } = parseArgs({
  options: {
    api: { type: "string", default: "http://127.0.0.1:4400" },
    clients: { type: "string", default: "50" },
    seconds: { type: "string", default: "10" },
  },
});
const until = performance.now() + Number(values.seconds) * 1_000;
const run = Math.floor(performance.timeOrigin).toString(36);
const tookMs: number[] = [];
const jobs = new Map<string, string>();
let wrong = 0;

await Promise.all(Array.from({ length: Number(values.clients) }, (_, client) => drive(client)));
const sorted = tookMs.toSorted((a, b) => a - b);
const at = (share: number): number => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0);
const rate = Math.round(sorted.length / Number(values.seconds));
console.log(
  `${sorted.length} requests, ${jobs.size} jobs, ${rate}/s, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, ${wrong} wrong`,
);
process.exitCode = wrong === 0 && sorted.length > 0 ? 0 : 1;

/** Two clients share each key: they must get the same job. */
async function drive(client: number): Promise<void> {
  for (let turn = 0; performance.now() < until; turn++) {
    const report = `${run}-${Math.floor(client / 2)}-${turn}`;
    const startedMs = performance.now();
    const { status, jobId } = await create(values.api, { job_key: `k6:${report}`, job_type: "succeed", report });
    tookMs.push(performance.now() - startedMs);
    const known = jobs.get(report) ?? jobId;
    jobs.set(report, known);
    if ((status !== 200 && status !== 201) || known !== jobId) wrong += 1;
  }
}
