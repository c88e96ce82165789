/** What runs processes: the event source of a worker, the rule that wakes scheduler tasks, the dead-letter consumer. */
import { drain } from "../../src/run/drain.ts";
import { runPasses } from "../../src/schedule/pass.ts";
import { createWorker } from "../../src/run/worker.ts";
import type { SimApp } from "./app.ts";
import type { SimProcess } from "./process.ts";
import type { World } from "./world.ts";

const invocationMs = 25_000;
const visibilityMs = 30_000;
const pollMs = 400;

/** A worker of one lane that is started again whenever it dies. */
export function keepWorker(world: World, lane: string, name: string): void {
  let starts = 0;
  const start = (): void => {
    starts += 1;
    const process = world.process(`${name}.${starts}`, () => world.time.after(world.random.between(300, 3_000), start));
    void runWorker(world, process, lane).catch((error: unknown) => process.kill(`crashed: ${String(error)}`));
  };
  start();
}

async function runWorker(world: World, process: SimProcess, lane: string): Promise<void> {
  const { ports, app } = world.inside(process, { runsHandlers: true });
  const options = { worker: process.name, lane, stage: "sim" };
  const worker = world.planted.worker(createWorker(ports, app.registry, options), world);
  const stop = new AbortController();
  world.onTerm(process, () => {
    stop.abort();
    void worker.stop(3_000).then(() => process.kill("asked to stop"));
  });
  while (!stop.signal.aborted) {
    const records = world.queue.receive(lane, world.random.between(1, 6), visibilityMs);
    if (records.length === 0) {
      await process.clock.sleep(pollMs);
      continue;
    }
    world.trace?.(
      `${process.name} receives ${records.map(({ messageId, body }) => `${messageId} ${body.slice(0, 40)}`).join("; ")}`,
    );
    const before = world.wire.troubles.get(process.name) ?? 0;
    const cancel = process.clock.after(invocationMs + 2_000, () => process.kill("out of time"));
    const until = process.clock.elapsedMs() + invocationMs;
    for (const { messageId } of world.planted.ackFirst ? records : []) world.queue.delete(lane, messageId);
    const { failed } = await worker.handle(records, { remainingMs: () => until - process.clock.elapsedMs() });
    cancel();
    await world.wire.leg();
    const wasTroubled = (world.wire.troubles.get(process.name) ?? 0) > before;
    if (failed.length > 0)
      world.trace?.(`${process.name} gives back ${failed.join(" ")}${wasTroubled ? ", troubled" : ""}`);
    for (const { messageId } of records) {
      if (failed.includes(messageId)) world.queue.giveBack(lane, messageId, { delayMs: 1_000, wasTroubled });
      else world.queue.delete(lane, messageId);
    }
    await ports.crashPoint?.("acked");
  }
}

/** Wakes a scheduler task again and again; a wake may be lost, or come twice. */
export function wakeSchedulers(world: World, name: string): void {
  let wakes = 0;
  const wake = (): void => {
    world.time.after(world.random.between(8_000, 22_000), wake);
    const copies = world.isFaulty && world.random.chance(0.3) ? world.random.between(0, 1) * 2 : 1;
    for (let copy = 0; copy < copies; copy += 1) {
      wakes += 1;
      const process = world.process(`${name}.${wakes}`, () => {});
      void runScheduler(world, process).catch((error: unknown) => process.kill(`crashed: ${String(error)}`));
    }
  };
  world.time.after(world.random.between(10, 5_000), wake);
}

async function runScheduler(world: World, process: SimProcess): Promise<void> {
  const { ports, app } = world.inside(process);
  const stop = new AbortController();
  world.onTerm(process, () => stop.abort());
  const report = await runPasses(ports, app.registry, {
    owner: process.name,
    untilMs: 6_000,
    onLockOutage: "postgres",
    signal: stop.signal,
    lockLeaseMs: 4_000,
  });
  world.trace?.(`${process.name} ends: ${report.outcome} after ${report.passes} passes`);
  process.kill("done");
}

/** Consumes the dead-letter queue of a lane. */
export function keepDrain(world: World, lane: string): void {
  let starts = 0;
  const start = (): void => {
    starts += 1;
    const process = world.process(`drain-${lane}.${starts}`, () => world.time.after(2_000, start));
    void runDrain(world, process, lane).catch((error: unknown) => process.kill(`crashed: ${String(error)}`));
  };
  start();
}

async function runDrain(world: World, process: SimProcess, lane: string): Promise<void> {
  const { ports, app }: { ports: Parameters<typeof drain>[0]; app: SimApp } = world.inside(process);
  for (;;) {
    await process.clock.sleep(3_000);
    const records = world.queue.dead(lane);
    if (records.length === 0) continue;
    const { failed } = await drain(ports, app.registry, records, { lane });
    await world.wire.leg();
    for (const { messageId } of records) {
      if (!failed.includes(messageId)) world.queue.dropDead(lane, messageId, world.record, true);
    }
  }
}
