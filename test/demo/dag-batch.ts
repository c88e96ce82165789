import {
  type Booking,
  bankDifference,
  bookingsOf,
  graphs,
  shops,
  statementTreatment,
} from "../../examples/dag-batch/input.ts";
import { readLedger } from "../../examples/fake/ledger.ts";
import { readGraphFile } from "../../examples/dag-batch/workflow.ts";
import { type Check, type Evidence, type Judge, noneOf } from "./judge.ts";
import { type Run, readRuns, taskLines } from "./dag-runs.ts";
import { expectedEnds } from "./graph-oracle.ts";

const runsExpected = shops.length + graphs.length;

export const dagBatch: Judge = {
  name: "dag-batch",
  kinds: [
    "settle-shops",
    "nightly-workflows",
    "settlement",
    ...["orders", "refunds", "match", "review", "publish"].map((task) => `settlement.${task}`),
    "workflow",
    "workflow.task",
  ],
  schedules: ["settle-shops", "nightly-workflows"],
  async progress({ db }) {
    const { rows } = await db.query<{ [name: string]: number }>(funnel);
    const { runs = 0, ended = 0, tasks = 0, done = 0, outer = 0 } = rows[0] ?? {};
    return {
      done: ended === runsExpected && outer === 2,
      line: `${runs} runs, ${ended} ended, ${done} of ${tasks} tasks done`,
    };
  },
  async checks(evidence) {
    const runs = await readRuns(evidence);
    return [...settlementChecks(runs, evidence), ...workflowChecks(runs, evidence)];
  },
};

const funnel = `
  select count(*)::int as runs, count(*) filter (where status <> 'RUNNING')::int as ended,
    coalesce(sum(tasks), 0)::int as tasks, coalesce(sum(done), 0)::int as done,
    (select count(*)::int from belfry.run where kind in ('settle-shops', 'nightly-workflows') and finished_at is not null) as outer
  from dag_batch.batch_instance as batch
  left join lateral (
    select count(*) as tasks, count(*) filter (where status in ('DONE', 'FAILED', 'SKIPPED')) as done
    from dag_batch.outbox_evt where batch_id = batch.id
  ) as evt on true`;

/** What a shop's run must have come to, from the input alone. */
function settlementOf(shop: string) {
  const isMissing = statementTreatment(shop) === "missing";
  const diff = isMissing ? null : -bankDifference(shop);
  const isReviewed = diff !== null && diff !== 0;
  return {
    diff,
    status: isMissing ? "FAILED" : "DONE",
    tasks: {
      orders: "DONE",
      refunds: "DONE",
      match: isMissing ? "FAILED" : "DONE",
      review: isMissing ? "SKIPPED" : isReviewed ? "DONE" : "NOT_TAKEN",
      publish: "DONE",
    },
  };
}

function settlementChecks(all: readonly Run[], evidence: Evidence): readonly Check[] {
  const runs = all.filter(({ dag }) => dag === "settlement");
  const published = readLedger(evidence.ledgers, "dag-batch-services").filter(({ outcome }) => outcome === "published");
  const wrong = shops.flatMap((shop) => {
    const mine = runs.filter(({ key }) => key.endsWith(`:${shop}`));
    const { status, tasks } = settlementOf(shop);
    const [run] = mine;
    if (run === undefined || mine.length !== 1) return [`${shop}: ${mine.length} runs`];
    const off = Object.entries(tasks).filter(([task, state]) => run.tasks.get(task)?.status !== state);
    if (run.status !== status) return [`${shop} ${run.status}`];
    return off.map(([task, state]) => `${shop} ${task} ${run.tasks.get(task)?.status}, not ${state}`);
  });
  const unpublished = shops.filter((shop) => {
    const lines = published.filter((line) => line["shop"] === shop);
    const [line] = lines;
    const { diff } = settlementOf(shop);
    const hasTicket = line?.["ticket"] !== "none";
    return lines.length !== 1 || line?.["diff"] !== (diff ?? "unknown") || hasTicket !== (diff !== null && diff !== 0);
  });
  const late = shops.filter((shop) => statementTreatment(shop) === "late");
  const impatient = late.filter((shop) =>
    runs.some(({ key, tasks }) => key.endsWith(`:${shop}`) && (tasks.get("match")?.attempts ?? 0) < 2),
  );
  return [
    noneOf(
      "each shop's day was settled once, with the branch its difference asks for",
      wrong,
      `${runs.length} runs, ${shops.filter((shop) => bankDifference(shop) !== 0).length} reviewed, 1 without a statement`,
    ),
    noneOf(
      "each settlement was published once, with its difference and ticket",
      unpublished,
      `${published.length} published`,
    ),
    noneOf("a bank that is not ready is asked again", impatient, `${late.length} shops`),
    noneOf(
      "the books add up",
      shops.filter((shop) => !addsUp(shop, runs)),
      `${shops.length} shops`,
    ),
  ];
}

/** The totals the tasks handed on, against the input. */
function addsUp(shop: string, runs: readonly Run[]): boolean {
  const run = runs.find(({ key }) => key.endsWith(`:${shop}`));
  const day = run?.key.slice(0, 10) ?? "";
  const sum = (kind: Booking["kind"]): number =>
    bookingsOf(shop, day).reduce((all, line) => all + (line.kind === kind ? line.cents : 0), 0);
  return (
    run?.tasks.get("orders")?.output?.["cents"] === sum("order") &&
    run.tasks.get("refunds")?.output?.["cents"] === sum("refund")
  );
}

function workflowChecks(all: readonly Run[], evidence: Evidence): readonly Check[] {
  const runs = all.filter(({ dag }) => dag === "workflow");
  const lines = taskLines(evidence);
  const problems = graphs.map((graph) => {
    const file = readGraphFile(graph);
    const mine = runs.filter(({ key }) => key.endsWith(`:${graph}`));
    const [run] = mine;
    const ends = expectedEnds(file);
    if (run === undefined || mine.length !== 1)
      return { wrong: [`${graph}: ${mine.length} runs`], early: [], again: [] };
    const status = [...ends.values()].includes("FAILED") ? "FAILED" : "DONE";
    const wrong = file.filter(({ name }) => run.tasks.get(name)?.status !== ends.get(name));
    return {
      wrong: [
        ...(run.status === status && run.tasks.size === file.length ? [] : [`${graph} ${run.status}`]),
        ...wrong.map(({ name }) => `${graph} ${name} ${run.tasks.get(name)?.status}, not ${ends.get(name)}`),
      ],
      early: file.filter((task) => lines.beganEarly(graph, task)).map(({ name }) => `${graph} ${name}`),
      again: file.filter(
        ({ name }) => lines.ended(graph, name) > 1 || (ends.get(name) === "SKIPPED" && lines.began(graph, name) > 0),
      ),
    };
  });
  const tasks = runs.reduce((sum, run) => sum + run.tasks.size, 0);
  return [
    noneOf(
      "every task of every graph ended as an independent oracle says",
      problems.flatMap(({ wrong }) => wrong),
      `${tasks} tasks of ${runs.length} graphs`,
    ),
    noneOf(
      "no task began before its predecessors had ended, by the cluster's own ledger",
      problems.flatMap(({ early }) => early),
      `${lines.total} lines`,
    ),
    noneOf(
      "no task ran to its end twice, and none that was skipped ran at all",
      problems.flatMap(({ again }) => again.map(({ name }) => name)),
      `${lines.repeats} repeated calls, recognized by their keys`,
    ),
  ];
}
