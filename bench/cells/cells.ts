/** One cell and two cells on this machine, each with a server and a process of its own, beside the model. */
import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { migrate } from "../../src/adapters/postgres/index.ts";
import { cpuUs } from "../backend-cpu.ts";
import { cellsPerSecond } from "../cost/model.ts";
import { openServer } from "../ground.ts";
import { median } from "../rounds.ts";
import { othersCores } from "./others.ts";
import type { Ask, Done } from "./process.ts";

export interface CellsLine {
  readonly what: string;
  readonly cells: number;
  readonly cores: number;
  readonly perSecond: number;
  readonly modelPerSecond: number;
  /** Measured beside the model: the median of the rounds, each by its own cost of a job. */
  readonly apartPercent: number;
  /** Of these cores, what other work took in the meantime. */
  readonly othersCores: number;
}

export interface CellsRun {
  readonly cost: { readonly postgresUs: number; readonly nodeUs: number };
  readonly lines: readonly CellsLine[];
}

export const apartPercentMax = 20;
/** A part of the whole shows that it runs. */
const roundsFor = (size: number): number => (size < 0.1 ? 1 : 3);
const wholeMs = 5_000;
/** Enough that some work while others wait for the disk. */
const loops = 8;

/** Which cells work, on which cores each. */
const settings = [
  { what: "one cell on one core", on: [[0]] },
  { what: "one cell on two cores", on: [[0, 1]] },
  { what: "two cells, a core each", on: [[0], [1]] },
  {
    what: "two cells that share two cores",
    on: [
      [0, 1],
      [0, 1],
    ],
  },
] as const;

type Cell = Awaited<ReturnType<typeof openCell>>;

/** @param size a part of five seconds a measurement, above 0, at most 1 */
export async function cells(size: number, say: (text: string) => void = () => {}): Promise<CellsRun> {
  const ms = Math.max(300, wholeMs * size);
  const opened: Cell[] = [];
  try {
    for (let n = 0; n < 2; n += 1) opened.push(await openCell());
    await work(opened, [[0], [1]], { ms, loops });
    const pairs = settings.map((): Pair[] => []);
    const rounds = roundsFor(size);
    for (let round = 0; round < rounds; round += 1) {
      for (const [at, { on }] of settings.entries()) {
        // Right before the line: other work makes every job dearer, and comes and goes.
        const cost = await work(opened, [[0, 1]], { ms, loops });
        pairs[at]?.push({ cost, worked: await work(opened, on, { ms, loops }) });
      }
      say(`round ${round + 1} of ${rounds} is measured`);
    }
    const costs = pairs.flat().map(({ cost }) => cost);
    return {
      cost: {
        postgresUs: median(costs.map((each) => each.postgresUs)),
        nodeUs: median(costs.map((each) => each.nodeUs)),
      },
      lines: settings.map((setting, at) => lineOf(setting, pairs[at] ?? [])),
    };
  } finally {
    for (const each of opened) await each.close();
  }
}

/** A line in one round, with the cost of a job right before it. */
interface Pair {
  readonly cost: Worked;
  readonly worked: Worked;
}

function lineOf(
  { what, on }: { readonly what: string; readonly on: readonly (readonly number[])[] },
  pairs: readonly Pair[],
): CellsLine {
  const cores = new Set(on.flat()).size;
  const models = pairs.map(({ cost, worked }) =>
    cellsPerSecond(cost, { cells: on.length, cores: cores - worked.othersCores }),
  );
  const ratios = pairs.map(({ worked }, at) => worked.perSecond / (models[at] ?? 0));
  return {
    what,
    cells: on.length,
    cores,
    perSecond: median(pairs.map(({ worked }) => worked.perSecond)),
    modelPerSecond: median(models),
    apartPercent: (median(ratios) - 1) * 100,
    othersCores: median(pairs.map(({ worked }) => worked.othersCores)),
  };
}

interface Worked {
  readonly perSecond: number;
  readonly othersCores: number;
  /** A job. */
  readonly postgresUs: number;
  readonly nodeUs: number;
}

/** The first cells work at once, each on its cores. */
async function work(opened: readonly Cell[], on: readonly (readonly number[])[], ask: Ask): Promise<Worked> {
  const working = on.map((cores, n) => ({ cores, cell: opened[n] as Cell }));
  for (const { cell, cores } of working) cell.pin(cores);
  const before = working.map(({ cell }) => cell.postgresUs());
  const others = othersCores([...new Set(on.flat())]);
  const done = await Promise.all(working.map(({ cell }) => cell.work(ask)));
  const postgresUs = working.reduce((sum, { cell }, n) => sum + cell.postgresUs() - (before[n] ?? 0), 0);
  const nodeUs = done.reduce((sum, each) => sum + each.nodeUs, 0);
  const jobs = done.reduce((sum, each) => sum + each.jobs, 0);
  return {
    perSecond: done.reduce((sum, each) => sum + (each.jobs / each.tookMs) * 1_000, 0),
    othersCores: others(postgresUs + nodeUs),
    postgresUs: postgresUs / jobs,
    nodeUs: nodeUs / jobs,
  };
}

async function openCell() {
  const server = await openServer();
  await migrate({ url: server.url });
  const child = fork(new URL("process.ts", import.meta.url), [server.url]);
  const ended = once(child, "exit").then((): never => {
    throw new Error("the process of a cell ended");
  });
  ended.catch(() => {});
  await Promise.race([once(child, "message"), ended]);
  const pids = (): readonly number[] => [server.pid, ...childrenOf(server.pid)];
  return {
    pin(cores: readonly number[]) {
      for (const pid of [...pids(), child.pid]) {
        // A process of the server may have ended by now.
        try {
          execFileSync("taskset", ["-acp", cores.join(","), String(pid)], { stdio: ["ignore", "ignore", "pipe"] });
        } catch (error) {
          if (childrenOf(server.pid).includes(pid ?? 0) || pid === server.pid || pid === child.pid) throw error;
        }
      }
    },
    postgresUs: (): number => pids().reduce((sum, pid) => sum + cpuUs(pid), 0),
    async work(ask: Ask): Promise<Done> {
      child.send(ask);
      const [done] = (await Promise.race([once(child, "message"), ended])) as [Done];
      return done;
    },
    async close() {
      child.disconnect();
      await ended.catch(() => {});
      await server.close();
    },
  };
}

const childrenOf = (parent: number): readonly number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent);

function parentOf(pid: number): number | null {
  try {
    return Number(/^\d+ \(.*\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1]);
  } catch {
    return null;
  }
}
