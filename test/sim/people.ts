/** Those who ask for work and interfere with it: clients, an operator, a deploy. */
import { cancelJobs, retryJobs } from "../../src/core/control.ts";
import { definitionOf } from "../../src/core/define-job.ts";
import { createClient } from "../../src/core/enqueue.ts";
import { KeyConflict } from "../../src/core/errors.ts";
import { installDefinitions } from "../../src/core/install.ts";
import { UnknownOutcome } from "../../src/core/ports.ts";
import { enqueuedKinds } from "./app.ts";
import type { Payload } from "./app.ts";
import type { SimProcess } from "./process.ts";
import type { World } from "./world.ts";

/** Clients enqueue at random moments until `untilMs`; some repeat a key. */
export function startClients(world: World, jobs: number, untilMs: number): void {
  for (let n = 1; n <= jobs; n += 1) {
    world.time.after(world.random.between(0, untilMs), () => {
      const process = world.process(`client.${n}`, () => {});
      void ask(world, process, n).then(
        () => process.kill("done"),
        (error: unknown) => process.kill(String(error)),
      );
    });
  }
}

async function ask(world: World, process: SimProcess, n: number): Promise<void> {
  const { ports, app } = world.inside(process);
  const kind = world.random.pick(enqueuedKinds);
  const job = app.jobs.get(kind);
  if (job === undefined) throw new Error(`no job ${kind}`);
  const mark = `e${n}`;
  const key = world.random.chance(0.4) ? `k${world.random.between(1, 8)}` : null;
  const delayMs = world.random.chance(0.4) ? world.random.between(0, 40_000) : 0;
  const payload = { ...payloadOf(world), ...(key === null ? { mark } : {}) };
  const slot =
    world.record.enqueues.push({ mark: key === null ? mark : `${kind}/${key}`, kind, key, answer: null }) - 1;
  const client = createClient(ports, { stage: "sim", lookAheadMs: world.lookAheadMs });
  const item = { payload: key === null ? payload : keyed(kind, key), delayMs, ...(key === null ? {} : { key }) };
  const entry = world.record.enqueues[slot];
  if (entry === undefined) return;
  try {
    const [answer] = await client.enqueue(definitionOf(job), [item]);
    if (answer !== undefined) world.record.enqueues[slot] = { ...entry, answer };
  } catch (error) {
    if (error instanceof KeyConflict) throw new Error("equal payloads cannot conflict", { cause: error });
    if (!(error instanceof UnknownOutcome)) world.trace?.(`${process.name}: ${String(error)}`);
  }
}

/** The payload of a key is always the same, as a retrying caller's would be. */
const keyed = (kind: string, key: string): Payload => ({ mark: `${kind}/${key}`, workMs: 300, failures: 1, kills: 1 });

function payloadOf(world: World): Payload {
  const { random } = world;
  return { workMs: random.between(10, 2_500), failures: random.between(0, 5), kills: random.between(0, 2) };
}

/** Somebody cancels and retries jobs. */
export function startOperator(world: World, actions: number, untilMs: number): void {
  for (let n = 1; n <= actions; n += 1) {
    world.time.after(world.random.between(2_000, untilMs), () => {
      const process = world.process(`operator.${n}`, () => {});
      void interfere(world, process).then(
        () => process.kill("done"),
        (error: unknown) => process.kill(String(error)),
      );
    });
  }
}

async function interfere(world: World, process: SimProcess): Promise<void> {
  const { ports, app } = world.inside(process);
  const listed = await ports.store.jobs({ limit: 50 });
  const some = world.random.shuffled(listed.map((job) => job.id)).slice(0, 3);
  if (world.random.chance(0.5)) await cancelJobs(ports, app.registry, some);
  else await retryJobs(ports, some, { lookAheadMs: world.lookAheadMs });
}

/** A release: the definitions are installed, with another period for one schedule. */
export async function deploy(world: World, name: string, everyMs: number): Promise<void> {
  const process = world.process(name, () => {});
  world.everyMs = everyMs;
  const { ports, app } = world.inside(process);
  try {
    await installDefinitions(ports, app.registry, { stage: "sim" });
    process.kill("done");
  } catch (error) {
    process.kill(String(error));
  }
}
