import type { RunId } from "../../src/machine/job.ts";
import { atOnce } from "../support/rescue-at-once.ts";
import type { Job } from "../../src/define/context.ts";
import { pass } from "../../src/schedule/pass.ts";
import type { RunState } from "../../src/machine/run.ts";
import type { State } from "../../src/machine/state.ts";
import { type Shop, shop, type World, world } from "../core/world.ts";

export interface Driven {
  readonly shop: Shop;
  readonly id: RunId;
  /** Messages a batch takes at most. */
  readonly max: number;
}

/** A world with this definition; its job enqueued and worked until the run exists. */
export async function startedRun<I>(
  definition: Job<I>,
  input: I,
  options: { max?: number; world?: World; also?: readonly Job<never>[] } = {},
): Promise<Driven> {
  const opened = await shop([definition, ...(options.also ?? [])], options.world ?? world());
  await opened.enqueue(definition, input);
  await opened.work();
  const [run] = await opened.world.store.runs({ kinds: [definition.id] });
  if (run === undefined) throw new Error(`no run of "${definition.id}" was started`);
  return { shop: opened, id: run.id, max: options.max ?? 10 };
}

/** Batches and passes until the run is closed, at most 500 of each. @returns its last state. */
export async function runToEnd({ shop: opened, id, max }: Driven): Promise<RunState | undefined> {
  const { world: ports, registry } = opened;
  for (let turn = 0; turn < 500; turn += 1) {
    while ((await batch(opened, max)) > 0);
    const run = await ports.store.run(id);
    if (run?.finishedAt != null) return run.state;
    await pass(ports, registry, {
      signal: AbortSignal.timeout(60_000),
      lapsed: atOnce,
    });
    await ports.clock.advance(2_000);
  }
  return (await ports.store.run(id))?.state;
}

async function batch(opened: Shop, max: number): Promise<number> {
  const before = opened.world.passed.length;
  const records = opened.receive(max);
  if (records.length === 0) return 0;
  const { failed } = await opened.worker.handle(records, { remainingMs: () => 600_000 });
  const done = records.map((record) => record.messageId).filter((messageId) => !failed.includes(messageId));
  opened.world.queue.delete("default", done);
  opened.world.queue.giveBack("default", failed);
  return opened.world.passed.length - before;
}

export async function stateOf({ shop: opened, id }: Driven): Promise<Readonly<Record<string, State>>> {
  const tasks = await opened.world.store.tasks(id);
  return Object.fromEntries(tasks.map((task) => [task.task ?? task.key ?? "", task.state]));
}
