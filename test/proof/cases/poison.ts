import { ambiguousJobs, judge } from "../judge.ts";
import { numbered } from "../load.ts";
import type { Checklist, Proof } from "../proof.ts";
import { startInstalled, type System } from "../system.ts";
import { readTables, type Tables } from "../tables.ts";
import { until } from "../until.ts";

const matesOfEach = 9;
/** An endless loop is ended with its invocation; short, so that the case is. */
const functionTimeoutSeconds = 8;
const oldSpaceMb = 96;

const bodies = [
  "{",
  "null",
  "[]",
  "hello",
  '{"jobId":7}',
  '{"jobId":"1","generation":"x"}',
  '{"jobId":"-1","generation":1}',
];

/** Jobs and messages that break the worker that touches them. */
export const poison: Proof = {
  name: "poison",
  about: "bad bodies, unknown kinds, process.exit, endless loops, memory, bad text: only that job FAILED",
  guards: ["alone"],
  async run(context, list) {
    const system = await startInstalled(context, {
      app: "poison",
      lane: () => ({ visibilityTimeoutSeconds: 10, functionTimeoutSeconds, concurrency: 2 }),
    });
    await enqueueAll(system);
    const unknown = await enqueueUnknown(system);
    const bad = await sendBadBodies(system);
    const work = system.work({
      deadLetters: true,
      envOf: () => ({ NODE_OPTIONS: system.nodeOptions(`--max-old-space-size=${oldSpaceMb}`) }),
    });
    await system.untilEnded(180_000);
    await until("all queues to be empty", 60_000, async () => {
      const depths = await Promise.all(system.queues.map(({ url }) => system.depth(url)));
      return depths.every(({ visible, inFlight }) => visible + inFlight === 0);
    });
    await work.stop();
    const before = await readTables(system.pool);
    const dead = new Set(system.processes.ends.filter(({ code }) => code !== 0).map(({ pid }) => pid));
    const tables = await judge(list, system, { ambiguous: ambiguousJobs(before, dead) });
    assess(list, tables, system, { unknown, bad });
  },
};

/** Definitions are loaded by the system, after it is known which settings they take. */
const poisonsOf = ({ runtime: { registry } }: System): readonly string[] =>
  [...registry.jobs.keys()].filter((kind) => registry.jobs.has(`mate-of-${kind}`));

/** One statement for each lane, so that the poison and its mates arrive in one batch. */
async function enqueueAll(system: System): Promise<void> {
  for (const [n, name] of poisonsOf(system).entries()) {
    await system.enqueue(name, [{ payload: { n } }]);
    await system.enqueue(`mate-of-${name}`, numbered(matesOfEach, n * 100));
  }
  await system.enqueue("fine", numbered(matesOfEach));
}

/** A row whose kind no release defines any more, between jobs that are fine. It was made an hour ago, so no release is on its way. */
async function enqueueUnknown(system: System): Promise<string> {
  const definition = system.runtime.registry.jobs.get("fine");
  if (definition === undefined) throw new Error('the app of this proof has no job "fine"');
  const [answer] = await system.runtime.client.enqueue({ ...definition, id: "gone" }, [{ payload: { n: 0 } }]);
  const madeLongAgo = "update belfry.job set created_at = created_at - interval '1 hour' where id = $1::bigint";
  await system.pool.query(madeLongAgo, [answer?.id]);
  system.asked.push({ mark: "gone/0", kind: "gone", key: null, answer: answer ?? null });
  return String(answer?.id);
}

async function sendBadBodies(system: System): Promise<readonly string[]> {
  const url = system.queues.find(({ lane }) => lane.name === "default")?.url;
  const entries = bodies.map((body, index) => ({ Id: String(index), MessageBody: body }));
  await system.sqs.call("SendMessageBatch", { QueueUrl: url, Entries: entries });
  return bodies;
}

function assess(
  list: Checklist,
  tables: Tables,
  system: System,
  { unknown, bad }: { unknown: string; bad: readonly string[] },
): void {
  for (const name of poisonsOf(system)) assessPoison(list, tables, name);
  const gone = tables.jobs.find((job) => job.id === unknown);
  list.expect(
    "an undefined kind is FAILED and says so",
    gone?.state === "FAILED" && gone.errorCode === "UNKNOWN_KIND",
    `${gone?.state} ${gone?.errorCode}`,
  );
  const fine = tables.jobs.filter((job) => job.kind === "fine");
  list.expectNone(
    "what arrived beside bad messages succeeds",
    fine.filter((job) => job.state !== "SUCCESS" || job.failures > 0).map((job) => `${job.id} ${job.state}`),
  );
  const kept = tables.quarantine.map((row) => row.body).toSorted();
  list.expect(
    "every unreadable body is kept for a person, once",
    JSON.stringify(kept) === JSON.stringify(bad.toSorted()),
    kept.length,
  );
  const died = system.processes.ends.filter(({ name, code }) => name.startsWith("worker") && code !== 0);
  list.expect("workers died of it", died.length >= 6, died.length);
  list.figure(
    `${died.length} workers died, ${tables.attempts.filter((row) => row.errorCode === "WORKER_LOST").length} tries ended with them`,
  );
}

/** A result that cannot be stored fails its job at once; everything else has two tries. */
function assessPoison(list: Checklist, { jobs, attempts }: Tables, name: string): void {
  const job = jobs.find((each) => each.kind === name);
  const mates = jobs.filter((each) => each.kind === `mate-of-${name}`);
  list.expectIs(`${name}: FAILED`, job?.state, "FAILED");
  list.expect(
    `${name}: has a code and a message`,
    Boolean(job?.errorCode) && Boolean(job?.errorMessage),
    `${job?.errorCode}: ${job?.errorMessage?.slice(0, 80)}`,
  );
  list.expectNone(
    `${name}: its mates succeed`,
    mates.filter((mate) => mate.state !== "SUCCESS").map((mate) => `${mate.id} ${mate.state} ${mate.errorCode}`),
  );
  list.expectNone(
    `${name}: its mates are charged nothing`,
    mates.filter((mate) => mate.failures > 0).map((mate) => `${mate.id}: ${mate.failures}`),
  );
  const first = attempts.find((row) => row.jobId === job?.id && row.attempt === 1);
  const together = mates.filter((mate) =>
    attempts.some((row) => row.jobId === mate.id && row.attempt === 1 && row.startedAt === first?.startedAt),
  );
  list.expect(`${name}: was in one batch with its mates`, together.length >= matesOfEach - 1, together.length);
}
