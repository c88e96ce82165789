import { create, type Request, requests } from "../../../examples/taskflow/requests.ts";
import { readLedger } from "../../../examples/fake/ledger.ts";
import { taskflowJudge } from "../../demo/taskflow.ts";
import { type ExampleOptions, type ExampleSystem, startExample } from "../example-system.ts";
import type { Checklist, Proof, ProofContext } from "../proof.ts";
import { until } from "../until.ts";
import { startWire } from "../wire.ts";

const clients = 200;
const slowMs = 40;
const scaleDefault = 8;
/** Each way: longer than the example waits for a statement of its own. */
const stallMs = 1_500;
const stalled = `
  select exists (select from belfry.job where state = 'RUNNING') as running,
    exists (select from belfry.attempt where error_code = 'DB_UNAVAILABLE') as failed`;

type Experiment = (list: Checklist, context: ProofContext) => Promise<void>;

/** The system's own experiments, by the guard that each of them needs. */
const experiments: Readonly<Record<string, Experiment>> = {
  "job-key": sameKey,
  permanent: mix,
  rescue: workersKilled,
  "fallback-lock": lockStoreDown,
  heartbeat: slowDatabase,
};

export const taskflowWalk: Proof = {
  name: "taskflow-walk",
  about: "taskflow: one key from 200 clients, a mix of failures, workers killed, lock store down, database slow",
  guards: Object.keys(experiments),
  async run(context, list) {
    for (const [guard, experiment] of Object.entries(experiments)) {
      if (context.without === null || context.without === guard) await experiment(list, context);
    }
  },
};

async function begin(context: ProofContext, label: string, more: Partial<ExampleOptions> = {}): Promise<ExampleSystem> {
  context.log(label);
  const scale = context.scale ?? scaleDefault;
  return await startExample(context, { name: "taskflow", label, scale, ...more });
}

async function sameKey(list: Checklist, context: ProofContext): Promise<void> {
  const example = await begin(context, "same key");
  const [one] = requests(1, "same");
  if (one === undefined) throw new Error("one request was asked for");
  const fleet = example.system.fleet();
  const answers = await Promise.all(Array.from({ length: clients }, () => create(example.api, one)));
  const jobs = new Set(answers.map(({ jobId }) => jobId));
  // Anything else is wrong enough without its end.
  if (jobs.size === 1 && answers.every(({ jobId }) => jobId !== ""))
    await ended(example, [one], () => fleet.pids().length > 0);
  const published = readLedger(example.evidence.ledgers, "taskflow-publisher").length;
  list.expectNone(
    "every client is answered",
    answers.filter(({ status }) => status > 201).map(({ status }) => `${status}`),
  );
  list.expectIs("all clients get one job", jobs.size, 1);
  list.expect("one client made it", answers.filter(({ created }) => created).length === 1);
  list.expectIs("it is published once", published, 1);
  list.figure(`${clients} clients, ${jobs.size} job`);
  await fleet.stop();
  await example.stop();
}

async function mix(list: Checklist, context: ProofContext): Promise<void> {
  const example = await begin(context, "mix");
  const asked = requests(Math.ceil(60 * context.size), "mix");
  await runToEnd(list, example, asked, () => {});
  await example.stop();
}

async function workersKilled(list: Checklist, context: ProofContext): Promise<void> {
  const example = await begin(context, "workers killed");
  const asked = requests(12, "kill");
  let kills = 0;
  await runToEnd(list, example, asked, (pids) => {
    const [victim] = pids;
    const hasClaimed = example.system.processes.histories.some(({ pid }) => pid === victim);
    if (victim === undefined || !hasClaimed || kills >= 3) return;
    process.kill(victim, "SIGKILL");
    kills += 1;
  });
  list.expect("workers were killed", kills > 0, kills);
  list.figure(`${kills} workers killed`);
  await example.stop();
}

/** What only a pass does goes on under the fallback lock: a job that is due beyond the dispatch window is dispatched. */
async function lockStoreDown(list: Checklist, context: ProofContext): Promise<void> {
  const outage = context.without === "fallback-lock" ? "skip" : "postgres";
  const env = { BELFRY_DISPATCH_WINDOW_MS: "1000", BELFRY_ON_LOCK_OUTAGE: outage };
  const example = await begin(context, "lock store down", { proxied: ["dynamodb"], env });
  example.system.proxies.dynamodb?.judge(() => ({ do: "refuse", status: 500, body: { message: "down" } }));
  await example.system.enqueue("taskflow-job", [
    { payload: { type: "succeed", report: "later" }, key: "report:later", delayMs: 30_000 },
  ]);
  const asked: readonly Request[] = [
    { job_key: "report:later", type: "succeed", payload: { report: "later" } },
    ...requests(8, "dark"),
  ];
  await runToEnd(list, example, asked, () => {});
  await example.stop();
}

/** No worker is taken for dead because the database answers late: a try that hangs ends by its own timeout. */
async function slowDatabase(list: Checklist, context: ProofContext): Promise<void> {
  const wire = await startWire(context.postgresUrl, () => 0.5);
  wire.delay(slowMs, 0);
  const slow = new URL(context.postgresUrl);
  slow.host = `127.0.0.1:${wire.port}`;
  const example = await begin({ ...context, postgresUrl: slow.href }, "slow database");
  const asked: readonly Request[] = [
    ...requests(8, "slow"),
    { job_key: "report:hang", type: "hang", payload: { report: "hang" } },
  ];
  await runToEnd(list, example, asked, () => {});
  const lost = await example.system.count("belfry.attempt where error_code = 'WORKER_LOST'");
  list.expectIs("no worker was taken for dead", lost, 0);
  list.figure(`a database ${slowMs} ms away, each way`);
  await example.stop();
  await wire.stop();
  if (context.without === null) await stalledDatabase(list, context);
}

/** Statements take so long that attempts fail by it: under a code of their own, and are repeated when it is fast again. */
async function stalledDatabase(list: Checklist, context: ProofContext): Promise<void> {
  const wire = await startWire(context.postgresUrl, () => 0.5);
  const example = await begin({ ...context, scale: 2 }, "stalled database", { postgresPort: wire.port });
  const { row, rows, count } = example.system;
  let isOver = false;
  const look = async (): Promise<void> => {
    const { running, failed } = await row<{ running: boolean; failed: boolean }>(stalled);
    isOver ||= failed;
    wire.delay(running && !isOver ? stallMs : 0, 0);
  };
  await runToEnd(list, example, requests(8, "stall"), () => void look());
  const attempts = await rows<{ code: string }>("select distinct error_code as code from taskflow.job_attempts");
  const codes = attempts.map(({ code }) => code);
  list.expect("attempts failed by the database, under its code", codes.includes("DB_UNAVAILABLE"), codes.join(" "));
  const stuck = await count("belfry.job where state in ('RUNNING', 'QUEUED', 'RETRY_WAIT')");
  list.expect("no job is stuck", stuck === 0, `${stuck} jobs`);
  list.figure(`statements of ${2 * stallMs} ms`);
  await example.stop();
  await wire.stop();
}

/** Requests are sent, workers and schedulers work, and the judge of the demonstration judges. */
async function runToEnd(
  list: Checklist,
  example: ExampleSystem,
  asked: readonly Request[],
  whileAsleep: (pids: readonly number[]) => void,
): Promise<void> {
  const judge = taskflowJudge(asked);
  const { fleet, stop } = example.system.work();
  await judge.begin?.(example.api);
  await ended(example, asked, () => {
    whileAsleep(fleet.pids("taskflow"));
    return true;
  }).catch((error: unknown) => list.expect("all jobs end in time", false, String(error)));
  await stop();
  for (const check of await judge.checks(example.evidence)) list.expect(check.name, check.pass, check.detail);
  list.figure(`${asked.length} requests`);
}

function ended(example: ExampleSystem, asked: readonly Request[], look: () => boolean): Promise<true> {
  const judge = taskflowJudge(asked);
  return until("all jobs to end", 90_000, async () => look() && (await judge.progress(example.evidence)).done);
}
