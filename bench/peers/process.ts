/** One contender in a process of its own, so that its CPU and its garbage are not another's. Ends with its parent. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Answer, Ask, Contender, ContenderName, Setting } from "./contender.ts";
import { belfry, belfryThroughSqs } from "./contenders/belfry.ts";
import { graphileWorker } from "./contenders/graphile-worker.ts";
import { pgBoss } from "./contenders/pg-boss.ts";
import { roof } from "./contenders/roof.ts";

const open: Readonly<Record<ContenderName, (setting: Setting) => Promise<Contender>>> = {
  roof,
  belfry,
  "belfry-sqs": belfryThroughSqs,
  "graphile-worker": graphileWorker,
  "pg-boss": pgBoss,
};
const loadPerCall = 50;
/** After so long without a start no more come. */
const quietMs = 5_000;

const setting = JSON.parse(process.argv[2] ?? "") as Setting;
const contender = await open[setting.name](setting);
const seen = { distinct: new Set<number>(), starts: 0, cpu: process.cpuUsage() };
process.once("disconnect", () => process.exit(1));
process.on("message", (ask: Ask) => {
  answer(ask).then(
    (said) => process.send?.(said satisfies Answer),
    (error: unknown) =>
      process.send?.({ failed: String(error instanceof Error ? error.stack : error) } satisfies Answer),
  );
});
process.send?.({ did: "nothing" } satisfies Answer);

async function answer(ask: Ask): Promise<Answer> {
  switch (ask.do) {
    case "run":
      return run(ask);
    case "stop": {
      const { user, system } = process.cpuUsage(seen.cpu);
      await contender.rest();
      return { did: "stop", nodeUs: user + system, started: seen.distinct.size, starts: seen.starts };
    }
    case "idle":
      return { did: "latency", ms: await idle(ask.samples) };
    case "loaded":
      return { did: "latency", ms: await loaded(ask.samples, ask.perSecond) };
    case "forget":
      contender.forget();
      return { did: "nothing" };
    case "close":
      await contender.close();
      process.removeAllListeners("disconnect");
      setImmediate(() => process.exit(0));
      return { did: "nothing" };
  }
}

async function run({ insert, work }: Extract<Ask, { do: "run" }>): Promise<Answer> {
  seen.distinct = new Set();
  seen.starts = 0;
  seen.cpu = process.cpuUsage();
  const startedMs = performance.now();
  const allStarted = work === 0 ? Promise.resolve() : startsOf(work);
  if (insert !== null) {
    for (let done = 0; done < insert.count; done += insert.perCall) {
      const count = Math.min(insert.perCall, insert.count - done);
      await contender.insert(Array.from({ length: count }, (_, at) => insert.first + done + at));
    }
  }
  const insertMs = performance.now() - startedMs;
  await allStarted;
  return { did: "run", insertMs };
}

/** Resolves when so many different handlers have started, or none has for a while: what is missing then is lost. */
async function startsOf(jobs: number): Promise<void> {
  let lastMs = performance.now();
  const done = new Promise<void>((resolve, reject) => {
    const onStart = (n: number): void => {
      seen.starts += 1;
      seen.distinct.add(n);
      lastMs = performance.now();
      if (seen.distinct.size === jobs) resolve();
    };
    contender.work(onStart).catch(reject);
  });
  const quiet = (async () => {
    while (seen.distinct.size < jobs && performance.now() - lastMs < quietMs) await sleep(100);
  })();
  await Promise.race([done, quiet]);
}

/** Calls and starts, by the number of the job. A number is called once. */
function stopwatch() {
  const called = new Map<number, number>();
  const waits = new Map<number, (ms: number) => void>();
  const early = new Map<number, number>();
  return {
    onStart(n: number): void {
      const atMs = performance.now();
      const tell = waits.get(n);
      if (tell === undefined) early.set(n, atMs);
      else tell(atMs);
    },
    async probe(n: number): Promise<number> {
      called.set(n, performance.now());
      const started = new Promise<number>((resolve) => waits.set(n, resolve));
      await contender.insert([n]);
      return (early.get(n) ?? (await started)) - (called.get(n) ?? 0);
    },
  };
}

const firstProbe = 1_000_000_000;
let nextProbe = firstProbe;

async function idle(samples: number): Promise<readonly number[]> {
  const watch = stopwatch();
  await contender.work((n) => watch.onStart(n));
  // Workers that have just started look at once: they are idle after the first probes.
  const ms: number[] = [];
  for (let sample = -5; sample < samples; sample += 1) {
    const took = await watch.probe(nextProbe++);
    if (sample >= 0) ms.push(took);
    // The outcome is written after the start; the next probe is to find an idle system.
    await sleep(10);
  }
  await contender.rest();
  return ms;
}

/** Probes one by one while other jobs come at a steady rate. */
async function loaded(samples: number, perSecond: number): Promise<readonly number[]> {
  const watch = stopwatch();
  await contender.work((n) => {
    if (n >= firstProbe) watch.onStart(n);
  });
  let isOver = false;
  const pauseMs = (loadPerCall * 1_000) / perSecond;
  const load = async (): Promise<void> => {
    const writes: Promise<void>[] = [];
    // oxlint-disable-next-line no-unmodified-loop-condition -- the probes below set it while this loop waits
    for (let n = 0, dueMs = performance.now(); !isOver; n += loadPerCall) {
      writes.push(contender.insert(Array.from({ length: loadPerCall }, (_, at) => n + at)));
      dueMs += pauseMs;
      await sleep(Math.max(0, dueMs - performance.now()));
    }
    await Promise.all(writes);
  };
  const loading = load();
  await sleep(200);
  const ms: Promise<number>[] = [];
  for (let sample = 0; sample < samples; sample += 1) {
    ms.push(watch.probe(nextProbe++));
    await sleep(20);
  }
  const all = await Promise.all(ms);
  isOver = true;
  await loading;
  await contender.rest();
  return all;
}
