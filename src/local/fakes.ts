import type { ChildProcess } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Children, OnLine } from "./process/children.ts";
import { freePort } from "./process/free-port.ts";
import { NotReady } from "./process/ready-child.ts";
import { useOf } from "./process/operating-system.ts";
import type { SetupReport } from "./setup/run-setup.ts";

type Fake = SetupReport["fakes"][number];

export interface FakesOptions {
  readonly children: Children;
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  /** Where each listens. Default: a free port, which is part of the address it reports. */
  readonly portOf?: (name: string) => number | undefined;
  readonly onLine?: OnLine | undefined;
  /** How long one may do nothing before it is ready. Default 20 s. */
  readonly idleMsMax?: number;
}

/** The outside targets of the examples, as `examples/fake.ts` describes them. */
export interface Fakes {
  /** The addresses that they reported, for the workers. */
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** Looks at a fake that is not ready yet. One that works is waited for, since a busy machine needs a minute for what else takes a second. */
const lookMs = 1_000;
const idleMsDefault = 20_000;
const looksMax = 240;
const restartMs = 500;
const stopMs = 5_000;

/** @throws Error naming the fake that failed, with what it wrote last. */
export async function startFakes(fakes: readonly Fake[], options: FakesOptions): Promise<Fakes> {
  const folder = join(options.home, "fakes");
  mkdirSync(folder, { recursive: true });
  const env = { ...options.env, FAKE_HOME: folder };
  const begun = fakes.filter(({ once }) => !once).map((each) => keepRunning(each, { ...options, env }));
  const stop = async (): Promise<void> => void (await Promise.all(begun.map((each) => each.stop())));
  try {
    const reported = await Promise.all(begun.map((each) => each.env));
    // Once the targets serve: a system that runs already then tries no row whose target is not there.
    for (const each of fakes.filter(({ once }) => once)) await runOnce(each, { ...options, env });
    return { env: Object.assign({}, ...reported) as Record<string, string>, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function runOnce(fake: Fake, options: FakesOptions): Promise<void> {
  const { child, lastLines } = startOne(fake, options, {});
  const code = await new Promise<number | null>((resolve) => {
    child.once("close", resolve);
    child.once("error", () => resolve(null));
  });
  if (code !== 0) throw new Error(`${fake.name} failed with code ${code}:\n${lastLines()}`);
}

interface Running {
  /** Once it is ready. */
  readonly env: Promise<Readonly<Record<string, string>>>;
  stop(): Promise<void>;
}

/** One that dies after it was ready is started again on its port: the workers know its address already. */
function keepRunning(fake: Fake, options: FakesOptions): Running {
  let stopped = false;
  let child: ChildProcess | null = null;
  const start = (port: string): Promise<Record<string, string>> => {
    const one = startOne(fake, options, { PORT: port });
    child = one.child;
    return one.ready;
  };
  const watch = (port: string): void =>
    void child?.once("exit", () => {
      if (stopped) return;
      void wait(restartMs).then(() => {
        if (stopped) return;
        void start(port).catch(() => {});
        watch(port);
      });
    });
  const begin = async (): Promise<Record<string, string>> => {
    const port = String(options.portOf?.(fake.name) ?? (await freePort()));
    if (stopped) throw new Error(`${fake.name} was stopped before it began`);
    const env = await start(port);
    watch(port);
    return env;
  };
  const env = begin();
  env.catch(() => {});
  return {
    env,
    async stop() {
      stopped = true;
      if (child !== null) await options.children.stop(child, stopMs);
    },
  };
}

function startOne(
  fake: Fake,
  options: FakesOptions,
  more: Readonly<Record<string, string>>,
): { child: ChildProcess; ready: Promise<Record<string, string>>; lastLines: () => string } {
  const lines: string[] = [];
  const ready = Promise.withResolvers<Record<string, string>>();
  ready.promise.catch(() => {});
  const child = options.children.start({
    name: fake.name,
    args: [fake.file],
    env: { ...options.env, ...more },
    onLine(line, stream) {
      lines.push(line);
      if (lines.length > 20) lines.shift();
      const env = stream === "stdout" ? readyEnv(line) : null;
      if (env !== null) ready.resolve(env);
      else options.onLine?.(line, stream);
    },
  });
  const textOf = (why: string): string => `${fake.name} ${why}:\n${lines.join("\n")}`;
  const fail = (why: string): void => ready.reject(new Error(textOf(why)));
  child.once("exit", (code, signal) => fail(`ended with ${signal ?? `code ${code}`}`));
  child.once("error", (error) => fail(error.message));
  const looks = watchStart({ child, idleMsMax: options.idleMsMax ?? idleMsDefault }, (why) =>
    ready.reject(new NotReady(textOf(why))),
  );
  void ready.promise.finally(() => clearInterval(looks)).catch(() => {});
  return { child, ready: ready.promise, lastLines: () => lines.join("\n") };
}

/** @returns the timer of its looks. */
function watchStart(
  { child, idleMsMax }: { child: ChildProcess; idleMsMax: number },
  give: (why: string) => void,
): NodeJS.Timeout {
  let looks = 0;
  let idle = 0;
  let cpuMs = 0;
  return setInterval(() => {
    const use = useOf(child.pid ?? -1);
    const now = use?.cpuMs ?? cpuMs;
    // One that waits for the processor is at work as well.
    idle = now > cpuMs || use?.state === "runs" ? 0 : idle + 1;
    cpuMs = now;
    looks += 1;
    if (idle * lookMs >= idleMsMax) give(`is not ready and did nothing for ${(idle * lookMs) / 1_000} s`);
    else if (looks >= looksMax) give(`was not ready after ${(looks * lookMs) / 1_000} s`);
  }, lookMs);
}

function readyEnv(line: string): Record<string, string> | null {
  if (!line.startsWith('{"ready"')) return null;
  const { env } = JSON.parse(line) as { env?: Record<string, string> };
  return env ?? {};
}
