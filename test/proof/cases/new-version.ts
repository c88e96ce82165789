import type { Pool } from "pg";
import { readLedger } from "../../../examples/fake/ledger.ts";
import { type ExampleSystem, startExample } from "../example-system.ts";
import type { Checklist, Proof } from "../proof.ts";
import { until } from "../until.ts";

interface Version {
  readonly seconds: Readonly<Record<string, number>>;
  readonly edges: readonly (readonly [from: string, to: string])[];
}

const first: Version = {
  seconds: { a: 1, b: 2, c: 3, d: 2 },
  edges: ["ab", "ac", "bd", "cd"].map((edge) => [edge.charAt(0), edge.charAt(1)] as const),
};
/** Shorter, with a task more, and in another order. */
const second: Version = {
  seconds: { a: 0, b: 0, c: 0, d: 0, e: 0 },
  edges: ["dc", "cb", "ba", "ae"].map((edge) => [edge.charAt(0), edge.charAt(1)] as const),
};
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
    const began = (): boolean => cluster(example).some(({ outcome }) => outcome === "began");
    await write(example.system.pool, 1, first);
    await start(example, "2031-01-01");
    await until("the first task to begin", 60_000, began);
    await write(example.system.pool, 2, second);
    await start(example, "2031-01-02");
    const ended = "dag_batch.batch_instance where status <> 'RUNNING'";
    await until("both batches to end", 120_000, async () => (await example.system.count(ended)) === 2);
    await wakes.stop();
    await fleet.stop();
    await judge(list, example, { day: "2031-01-01", number: 1, version: first });
    await judge(list, example, { day: "2031-01-02", number: 2, version: second });
    await example.stop();
  },
};

const cluster = ({ evidence }: ExampleSystem) =>
  readLedger(evidence.ledgers, "dag-batch-services").filter((line) => line["what"] === "task");

async function write(db: Pool, number: number, { seconds, edges }: Version): Promise<void> {
  await db.query(
    "insert into dag_batch.task (graph, version, name, seconds) select 'mine', $1, key, value::float8 from json_each_text($2)",
    [number, JSON.stringify(seconds)],
  );
  await db.query("insert into dag_batch.task_dep select 'mine', $1, * from unnest($2::text[], $3::text[])", [
    number,
    edges.map(([from]) => from),
    edges.map(([, to]) => to),
  ]);
}

async function start({ api }: ExampleSystem, day: string): Promise<void> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ graph: "mine", day });
  const { status } = await fetch(`${api}/apps/dag-batch/batches`, { method: "POST", headers, body });
  if (status !== 201) throw new Error(`POST /batches answered ${status}`);
}

/** A batch ran its own version: tasks, edges and how long each took, by the lines that the cluster wrote itself. */
async function judge(
  list: Checklist,
  example: ExampleSystem,
  { day, number, version }: { readonly day: string; readonly number: number; readonly version: Version },
): Promise<void> {
  const { rows } = await example.system.pool.query<{ task: string; id: string; status: string; ran: number }>(
    `select task_key as task, evt.id::text, batch.status, dag_version::int as ran from dag_batch.batch_instance as batch
     join dag_batch.outbox_evt as evt on evt.batch_id = batch.id where biz_key = $1 order by task_key`,
    [`${day}:mine`],
  );
  const ofTask = new Map(rows.map(({ id, task }) => [`${id}:task`, task]));
  const lines = cluster(example).flatMap(({ key, outcome, at }, n) => {
    const task = ofTask.get(key);
    return task === undefined ? [] : [{ task, outcome, n, ms: Date.parse(at) }];
  });
  const line = (task: string, outcome: string) => lines.find((each) => each.task === task && each.outcome === outcome);
  const took = (task: string): number => (line(task, "ended")?.ms ?? 0) - (line(task, "began")?.ms ?? 0);
  const states = [...new Set(rows.map(({ status, ran }) => `${status} ${ran}`))];
  list.expect(`the batch of version ${number} is DONE with it`, states.join() === `DONE ${number}`, states.join());
  list.expect(
    `it has the tasks of version ${number}`,
    rows.map(({ task }) => task).join() === Object.keys(version.seconds).join(),
  );
  list.expectNone(
    `each of its tasks runs as long as version ${number} says`,
    Object.entries(version.seconds)
      .filter(([task, seconds]) => took(task) < seconds * 1_000 - clockMs)
      .map(([task, seconds]) => `${task} ran ${took(task)} ms of ${seconds} s`),
  );
  list.expectNone(
    `in the order of version ${number}`,
    version.edges
      .filter(([from, to]) => !((line(from, "ended")?.n ?? Infinity) < (line(to, "began")?.n ?? -1)))
      .map(([from, to]) => `${to} before ${from}`),
  );
  list.figure(`version ${number}: ${rows.map(({ task }) => `${task} ${took(task)} ms`).join(", ")}`);
}
