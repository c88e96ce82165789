import { readLedger } from "../../../examples/fake/ledger.ts";
import { type ExampleSystem, startExample } from "../example-system.ts";
import type { Checklist, Proof } from "../proof.ts";
import { until } from "../until.ts";

/** Seconds of each task, and edges as two names. The second version is shorter, has a task more and another order. */
const versions = [
  { day: "2031-01-01", number: 1, seconds: { a: 1, b: 2, c: 3, d: 2 }, edges: ["ab", "ac", "bd", "cd"] },
  { day: "2031-01-02", number: 2, seconds: { a: 0, b: 0, c: 0, d: 0, e: 0 }, edges: ["dc", "cb", "ba", "ae"] },
] as const;
type Version = (typeof versions)[number];

/** A timer may end this much too soon by the clock of the ledger. */
const clockMs = 20;

/** The author's own experiment: the graph's tables change while a batch runs. */
export const newVersion: Proof = {
  name: "new-version",
  about: "dag-batch: a graph's new version is written while a batch of the old one runs",
  guards: ["snapshot"],
  async run(context, list) {
    const example = await startExample(context, { name: "dag-batch", label: "new version", scale: 1 });
    const wakes = example.system.wakes({ everyMs: 0 });
    const fleet = example.system.fleet();
    for (const version of versions) {
      await start(example, version);
      await until("a task to begin", 60_000, () => cluster(example).some(({ outcome }) => outcome === "began"));
    }
    const ended = "dag_batch.batch_instance where status <> 'RUNNING'";
    list.expect("no batch had ended when the second version was there", (await example.system.count(ended)) === 0);
    await until("both batches to end", 120_000, async () => (await example.system.count(ended)) === versions.length);
    await wakes.stop();
    await fleet.stop();
    for (const version of versions) await judge(list, example, version);
    await example.stop();
  },
};

const cluster = ({ evidence }: ExampleSystem) =>
  readLedger(evidence.ledgers, "dag-batch-services").filter((line) => line["what"] === "task");

/** Writes the version and starts a batch of it, as the author's program does. */
async function start({ api, system }: ExampleSystem, { day, number, seconds, edges }: Version): Promise<void> {
  await system.pool.query(
    "insert into dag_batch.task (graph, version, name, seconds) select 'mine', $1, key, value::float8 from json_each_text($2)",
    [number, JSON.stringify(seconds)],
  );
  const insert =
    "insert into dag_batch.task_dep select 'mine', $1, left(edge, 1), right(edge, 1) from unnest($2::text[]) edge";
  await system.pool.query(insert, [number, edges]);
  const body = JSON.stringify({ graph: "mine", day });
  const headers = { "content-type": "application/json" };
  const { status } = await fetch(`${api}/apps/dag-batch/batches`, { method: "POST", headers, body });
  if (status !== 201) throw new Error(`POST /batches answered ${status}`);
}

/** A batch ran its own version: tasks, edges and how long each took, by the lines that the cluster wrote itself. */
async function judge(list: Checklist, example: ExampleSystem, { day, number, seconds, edges }: Version): Promise<void> {
  const { rows } = await example.system.pool.query<{ task: string; id: string; ran: string }>(
    `select task_key as task, evt.id::text, batch.status || ' ' || dag_version as ran from dag_batch.batch_instance as batch
     join dag_batch.outbox_evt as evt on evt.batch_id = batch.id where biz_key = $1 order by task_key`,
    [`${day}:mine`],
  );
  const lines = cluster(example).map(({ key, outcome, at }, n) => ({
    line: `${key} ${outcome}`,
    n,
    ms: Date.parse(at),
  }));
  const moment = (task: string, outcome: "began" | "ended") => {
    const id = rows.find((row) => row.task === task)?.id;
    return lines.find(({ line }) => line === `${id}:task ${outcome}`) ?? { n: NaN, ms: NaN };
  };
  const took = (task: string): number => moment(task, "ended").ms - moment(task, "began").ms;
  const states = [...new Set(rows.map(({ ran }) => ran))].join();
  list.expect(`the batch of version ${number} is DONE with it`, states === `DONE ${number}`, states);
  const tasks = rows.map(({ task }) => task).join();
  list.expect(`it has the tasks of version ${number}`, tasks === Object.keys(seconds).join(), tasks);
  list.expectNone(
    `each of its tasks runs as long as version ${number} says`,
    Object.entries(seconds)
      .filter(([task, wanted]) => !(took(task) >= wanted * 1_000 - clockMs))
      .map(([task, wanted]) => `${task} ran ${took(task)} ms of ${wanted} s`),
  );
  const isInOrder = ([from = "", to = ""]: string): boolean => moment(from, "ended").n < moment(to, "began").n;
  list.expectNone(
    `in the order of version ${number}`,
    edges.filter((edge) => !isInOrder(edge)),
  );
  list.figure(`version ${number}: ${rows.map(({ task }) => `${task} ${took(task)} ms`).join(", ")}`);
}
