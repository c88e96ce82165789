import { readLedger } from "../../examples/fake/ledger.ts";
import { type Check, type Evidence, noneOf } from "../demo/judge.ts";
import { until } from "../proof/until.ts";
import { type Experiment, newTag, post } from "./experiment.ts";
import type { RunningSystem } from "./running.ts";

/** Seconds of each task, and edges as two names. The second version is shorter, has a task more and another order. */
const versions = [
  { day: "2031-01-01", number: 1, seconds: { a: 1, b: 2, c: 3, d: 2 }, edges: ["ab", "ac", "bd", "cd"] },
  { day: "2031-01-02", number: 2, seconds: { a: 0, b: 0, c: 0, d: 0, e: 0 }, edges: ["dc", "cb", "ba", "ae"] },
] as const;
type Version = (typeof versions)[number];

/** A timer may end this much too soon by the clock of the ledger. */
const clockMs = 20;

const minuteMs = 60_000;

/** The author's own experiment: the graph's tables change while a batch runs. */
export const newVersion: Experiment = {
  name: "dag-batch-new-version",
  about: "a graph's new version is written while a batch of the old one runs",
  proof: "new-version",
  run: (system) => writeNewVersion(system, `graph-${newTag()}`),
};

export async function writeNewVersion(
  system: Pick<RunningSystem, "api" | "evidence">,
  graph: string,
): Promise<readonly Check[]> {
  const { evidence } = system;
  const ended = `select biz_key from dag_batch.batch_instance where status <> 'RUNNING' and biz_key like '%:' || $1`;
  const count = async (): Promise<number> => (await evidence.db.query(ended, [graph])).rowCount ?? 0;
  for (const version of versions) {
    await start(system, graph, version);
    const isBegun = (): boolean => cluster(evidence, graph).some(({ outcome }) => outcome === "began");
    await until("a task to begin", minuteMs, isBegun);
  }
  const early = await count();
  await until("both batches to end", 2 * minuteMs, async () => (await count()) === versions.length);
  const checks = await Promise.all(versions.map((version) => judge(evidence, graph, version)));
  const name = "no batch had ended when the second version was there";
  return [{ name, pass: early === 0, detail: `${early} ended` }, ...checks.flat()];
}

const cluster = ({ ledgers }: Evidence, graph: string) =>
  readLedger(ledgers, "dag-batch-services").filter((line) => line["what"] === "task" && line["graph"] === graph);

/** Writes the version and starts a batch of it, as the author's program does. */
async function start(
  { api, evidence }: Pick<RunningSystem, "api" | "evidence">,
  graph: string,
  { day, number, seconds, edges }: Version,
): Promise<void> {
  await evidence.db.query(
    "insert into dag_batch.task (graph, version, name, seconds) select $3, $1, key, value::float8 from json_each_text($2)",
    [number, JSON.stringify(seconds), graph],
  );
  const insert =
    "insert into dag_batch.task_dep select $3, $1, left(edge, 1), right(edge, 1) from unnest($2::text[]) edge";
  await evidence.db.query(insert, [number, edges, graph]);
  await post(`${api}/apps/dag-batch/batches`, { graph, day });
}

/** A batch ran its own version: tasks, edges and how long each took, by the lines that the cluster wrote itself. */
async function judge(
  evidence: Evidence,
  graph: string,
  { day, number, seconds, edges }: Version,
): Promise<readonly Check[]> {
  const { rows } = await evidence.db.query<{ task: string; id: string; ran: string }>(
    `select task_key as task, evt.id::text, batch.status || ' ' || dag_version as ran from dag_batch.batch_instance as batch
     join dag_batch.outbox_evt as evt on evt.batch_id = batch.id where biz_key = $1 order by task_key`,
    [`${day}:${graph}`],
  );
  const lines = cluster(evidence, graph);
  const moment = (task: string, outcome: "began" | "ended") => {
    const key = `${rows.find((row) => row.task === task)?.id}:task`;
    const n = lines.findIndex((line) => line.key === key && line.outcome === outcome);
    return { n: n < 0 ? NaN : n, ms: Date.parse(lines[n]?.at ?? "") };
  };
  const took = (task: string): number => moment(task, "ended").ms - moment(task, "began").ms;
  const states = [...new Set(rows.map(({ ran }) => ran))].join();
  const tasks = rows.map(({ task }) => task).join();
  const isInOrder = ([from = "", to = ""]: string): boolean => moment(from, "ended").n < moment(to, "began").n;
  return [
    { name: `the batch of version ${number} is DONE with it`, pass: states === `DONE ${number}`, detail: states },
    { name: `it has the tasks of version ${number}`, pass: tasks === Object.keys(seconds).join(), detail: tasks },
    noneOf(
      `each of its tasks runs as long as version ${number} says`,
      Object.entries(seconds)
        .filter(([task, wanted]) => !(took(task) >= wanted * 1_000 - clockMs))
        .map(([task, wanted]) => `${task} ran ${took(task)} ms of ${wanted} s`),
      rows.map(({ task }) => `${task} ${took(task)} ms`).join(", "),
    ),
    noneOf(
      `in the order of version ${number}`,
      edges.filter((edge) => !isInOrder(edge)),
      `${edges.length} edges`,
    ),
  ];
}
