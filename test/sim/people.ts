/** Those who ask for work and interfere with it: clients, an operator, a deploy. */
import { cancelJobs, retryJobs } from "../../src/insight/cancel-and-retry.ts";
import { newerRun, resumeRun } from "../../src/insight/run-control.ts";
import type { JobId } from "../../src/machine/job.ts";
import { definitionOf } from "../../src/define/define-job.ts";
import { createClient } from "../../src/run/enqueue.ts";
import { installDefinitions } from "../../src/schedule/install-schedules.ts";
import { enqueuedKinds, type Payload } from "./app.ts";
import type { SimProcess } from "./process.ts";
import type { World } from "./world.ts";

/** Each acts once, at a random moment between these two. */
export function startPeople(
  world: World,
  { name, count, fromMs, untilMs }: { name: string; count: number; fromMs: number; untilMs: number },
  act: (world: World, process: SimProcess, n: number) => Promise<void>,
): void {
  for (let n = 1; n <= count; n += 1) {
    world.time.after(world.random.between(fromMs, untilMs), () => {
      const process = world.process(`${name}.${n}`, () => {});
      void act(world, process, n).then(
        () => process.kill("done"),
        (error: unknown) => process.kill(String(error)),
      );
    });
  }
}

/** One client asks once, for one job or for some of one kind; of a debounced kind again and again. */
export async function ask(world: World, process: SimProcess, n: number): Promise<void> {
  const kind = world.random.pick(enqueuedKinds);
  for (let call = 0; call < (kind === "burst" ? 4 : 1); call += 1) {
    if (call > 0) await process.clock.sleep(700);
    await askFor(world, process, { kind, n: `${n}.${call}` });
  }
}

/** Remembers what it was answered. */
async function askFor(world: World, process: SimProcess, { kind, n }: { kind: string; n: string }): Promise<void> {
  const { ports, app } = world.inside(process);
  const { random, record } = world;
  const job = app.jobs.get(kind);
  if (job === undefined) throw new Error(`no job ${kind}`);
  const items = Array.from({ length: random.chance(0.3) ? random.between(2, 5) : 1 }, (_, m) =>
    itemOf(world, kind, `${n}.${m}`),
  );
  const first = record.enqueues.length;
  for (const { payload, key } of items)
    record.enqueues.push({ mark: payload.mark, kind, key: key ?? null, answer: null });
  const client = createClient(ports);
  const answers = await client.enqueue(definitionOf(job), items);
  answers.forEach((answer, index) => {
    const asked = record.enqueues[first + index];
    if (asked !== undefined) record.enqueues[first + index] = { ...asked, answer };
  });
}

/** Some repeat a key, as a caller does who was not answered; the payload of a key is always the same. */
function itemOf(
  world: World,
  kind: string,
  n: string,
): { payload: Payload & { mark: string }; key?: string; delayMs?: number } {
  const { random } = world;
  if (kind === "burst") return { payload: { mark: `e${n}`, workMs: 100 } };
  const delayMs = random.chance(0.4) ? random.between(0, 40_000) : 0;
  if (random.chance(0.3)) {
    const key = `k${random.between(1, 8)}`;
    return { payload: { mark: `${kind}/${key}`, workMs: 300, failures: 1, kills: 1 }, key, delayMs };
  }
  const bad = { failures: random.between(0, 5), kills: random.between(0, 2) };
  return { payload: { mark: `e${n}`, workMs: random.between(10, 2_500), ...bad }, delayMs };
}

/** A person cancels and retries jobs. */
export async function interfere(world: World, process: SimProcess): Promise<void> {
  const { ports, app } = world.inside(process);
  const newest = await world.wire.call(process, "jobs", () => world.server.newestJobs(50));
  const some = world.random.shuffled(newest).slice(0, 3);
  if (world.random.chance(0.2)) await renew(world, process, newest);
  else if (world.random.chance(0.5)) await cancelJobs(ports, app.registry, some);
  else await retryJobs(ports, some);
}

/** A run of these goes on by a newer graph, in which tasks that nothing follows may be gone, or back, or follow fewer. */
async function renew(world: World, process: SimProcess, some: readonly JobId[]): Promise<void> {
  const { ports, app } = world.inside(process);
  const run = [...(await ports.store.inRuns(some)).values()].find(({ kind, task }) => kind === "flow" && task !== null);
  const plan = run === undefined ? null : await newerRun(ports, app.registry, run);
  if (run === undefined || plan === null) return;
  const isFollowed = (place: number): boolean => plan.tasks.some(({ after }) => after.includes(place));
  const last = plan.tasks.findLastIndex((_, place) => isFollowed(place)) + 1;
  const tasks = plan.tasks.filter((_, place) => place < last || world.random.chance(0.5));
  const fewer = tasks.map((task) => (task.task === "h" ? { ...task, after: task.after.slice(0, 1) } : task));
  const newer = { ...plan, version: 2, tasks: world.random.chance(0.5) ? tasks : fewer };
  await resumeRun(ports, run.runId, { caller: "operator", newer });
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
