import { checkInvariants } from "../invariants/check.ts";
import { unneededHelp } from "../invariants/healthy.ts";
import type { Violation } from "../invariants/evidence.ts";
import { gather, isAtRest } from "./gather.ts";
import { keepDrain, keepWorker, wakeSchedulers } from "./hosts.ts";
import { damageLocks } from "./locks.ts";
import { ask, deploy, interfere, startPeople } from "./people.ts";
import { calmQueue } from "./queue.ts";
import { send } from "./signals.ts";
import { restMsMax, World, type Planted } from "./world.ts";
import type { Layer } from "./store.ts";
import type { OpenServer } from "./server.ts";
import { noFaults } from "./wire.ts";

export interface Simulated {
  readonly violations: readonly Violation[];
  /** Virtual milliseconds until everything had ended. */
  readonly restedAtMs: number;
  readonly jobs: number;
  readonly events: number;
}

export interface SimulateOptions {
  readonly planted?: Partial<Planted>;
  /** Layers switched off; by default the seed decides. */
  readonly without?: readonly Layer[];
  readonly trace?: (line: string) => void;
  /** Left out: the reference store. */
  readonly open?: OpenServer;
}

/** One run: a world, its troubles, rest, and the judgement. The same seed gives the same run, to the byte. */
export async function simulate(seed: number, options: SimulateOptions = {}): Promise<Simulated> {
  const without = new Set<Layer>(options.without ?? (seed % 4 === 0 ? ["requeue"] : []));
  const { planted = {}, trace = null, open } = options;
  const world = await World.open({ seed, planted, without, trace, ...(open === undefined ? {} : { open }) });
  try {
    return await lived(world);
  } finally {
    world.end();
    await world.server.close();
  }
}

async function lived(world: World): Promise<Simulated> {
  const faultyMs = world.random.between(40_000, 90_000);
  await begin(world, faultyMs);
  await world.time.runUntil(faultyMs);
  calm(world);
  await world.time.runUntil(faultyMs + 15_000);
  const endedBefore = world.now();
  let restedAtMs = world.time.nowMs;
  while (!(await isAtRest(world, endedBefore)) && restedAtMs < faultyMs + restMsMax) {
    restedAtMs += 5_000;
    await world.time.runUntil(restedAtMs);
  }
  const evidence = await gather(world, endedBefore);
  return {
    violations: [...checkInvariants(evidence), ...(isCalm(world.seed) ? unneededHelp(evidence) : [])],
    restedAtMs,
    jobs: evidence.jobs.length,
    events: evidence.events.length,
  };
}

async function begin(world: World, faultyMs: number): Promise<void> {
  const { random } = world;
  const first = deploy(world, "deploy.0", random.pick([10_000, 15_000, 20_000]));
  await world.time.runUntil(200);
  await first;
  trouble(world);
  for (const [lane, name] of [
    ["default", "alpha"],
    ["default", "beta"],
    ["mail", "gamma"],
  ] as const) {
    keepWorker(world, lane, name);
  }
  for (const lane of ["default", "mail"]) keepDrain(world, lane);
  for (let n = 1; n <= random.between(2, 3); n += 1) wakeSchedulers(world, `scheduler-${n}`);
  const untilMs = faultyMs;
  startPeople(world, { name: "client", count: random.between(8, 26), fromMs: 0, untilMs }, ask);
  startPeople(world, { name: "operator", count: random.between(0, 5), fromMs: 2_000, untilMs }, interfere);
  startPeople(world, { name: "sender", count: random.between(4, 20), fromMs: 2_000, untilMs }, send);
  interruptions(world, faultyMs);
}

/** One run in ten meets no fault, and then nothing may have needed a rescue. */
const isCalm = (seed: number): boolean => seed % 10 === 5;

/** How bad it is, by seed: some runs are nearly calm, so that what self-healing hides can be seen too. */
function trouble(world: World): void {
  const { random } = world;
  if (isCalm(world.seed)) return;
  const level = random.pick([0.2, 1, 1, 2]);
  const rate = (most: number): number => random.next() * most * level;
  world.isFaulty = true;
  world.wire.rates = {
    refused: rate(0.02),
    answerLost: rate(0.02),
    slow: rate(0.02),
    kill: rate(0.006),
    stop: rate(0.004),
  };
  const lose = world.without.has("requeue") ? 0 : rate(0.08);
  world.queue.rates = { lose, duplicate: rate(0.25), late: rate(0.1), early: rate(0.3), refuse: rate(0.08) };
}

/** A server is away for seconds; the lock store long enough for the fallback lock. */
function outages(world: World, faultyMs: number): void {
  const { random, time, wire } = world;
  for (let n = random.between(1, 3); n > 0; n -= 1) {
    const server = random.pick(["store", "queue", "locks", "locks"]);
    const ms = server === "locks" ? random.between(5_000, 30_000) : random.between(1_000, 12_000);
    time.after(random.between(1_000, faultyMs), () => {
      world.trace?.(`${server} is away for ${ms} ms`);
      wire.outages.set(server, time.nowMs + ms);
    });
  }
}

/** Runs something while a tick is between reading its schedules and writing their plans. */
function duringTicks(world: World, times: number, run: (n: number) => void): void {
  const chosen = new Set(Array.from({ length: times }, () => world.random.between(1, 40)));
  let ticks = 0;
  world.wire.watch = (name) => {
    if (name === "store.dueSchedules" && world.isFaulty && chosen.has(++ticks)) run(ticks);
  };
}

function calm(world: World): void {
  world.trace?.("faults end");
  world.isFaulty = false;
  world.wire.rates = noFaults;
  world.queue.rates = calmQueue;
  world.wire.outages.clear();
}

/** Stops by request, releases, and damage to the lock table, at moments of the seed's choice. */
function interruptions(world: World, faultyMs: number): void {
  const { random, time } = world;
  if (isCalm(world.seed)) return;
  const often = (times: number, run: (n: number) => void): void => {
    for (let n = 1; n <= times; n += 1) time.after(random.between(1_000, faultyMs), () => run(n));
  };
  often(random.between(0, 4), () => world.terminateOne());
  often(random.between(0, 5), () => world.stopOne());
  const release = (n: string): void => void deploy(world, `deploy.${n}`, random.pick([8_000, 10_000, 15_000, 20_000]));
  often(random.between(0, 2), (n) => release(`${n}`));
  duringTicks(world, random.between(0, 4), (n) => release(`t${n}`));
  if (random.chance(0.5)) outages(world, faultyMs);
  if (random.chance(0.3)) {
    often(1, () => damageLocks(world.lockTable, world.record, random.pick(["wiped", "restored"]), time.nowMs));
  }
}
