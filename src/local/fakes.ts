import type { ChildProcess } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
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

/** @throws Error naming the fakes that failed, with what they wrote last. */
export async function startFakes(fakes: readonly Fake[], options: FakesOptions): Promise<Fakes> {
  const folder = join(options.home, "fakes");
  mkdirSync(folder, { recursive: true });
  const about = { ...options, env: { ...options.env, FAKE_HOME: folder } };
  const running = keepRunning(
    fakes.filter(({ once }) => !once),
    about,
  );
  try {
    const env = await running.env;
    // Once the targets serve: a system that runs already then tries no row whose target is not there.
    for (const each of fakes.filter(({ once }) => once)) await runOnce(each, about);
    return { env, stop: running.stop };
  } catch (error) {
    await running.stop();
    throw error;
  }
}

async function runOnce(fake: Fake, options: FakesOptions): Promise<void> {
  const { child, lastLines } = startOne(fake.name, [fake], { args: [fake.file], ...options });
  const code = await new Promise<number | null>((resolve) => {
    child.once("close", resolve);
    child.once("error", () => resolve(null));
  });
  if (code !== 0) throw new Error(`${fake.name} failed with code ${code}:\n${lastLines()}`);
}

interface Running {
  /** Once all are ready. */
  readonly env: Promise<Readonly<Record<string, string>>>;
  stop(): Promise<void>;
}

/** In one process, which is small beside one for each. If it dies, it is started again on its ports: the workers know the addresses. */
function keepRunning(fakes: readonly Fake[], options: FakesOptions): Running {
  let stopped = false;
  let child: ChildProcess | null = null;
  const start = (ports: Readonly<Record<string, number>>): Promise<Record<string, string>> => {
    const args = ["--eval", importAll, ...fakes.map(({ file }) => pathToFileURL(file).href)];
    const env = { ...options.env, PORTS: JSON.stringify(ports) };
    const one = startOne("fakes", fakes, { ...options, args, env });
    child = one.child;
    child.once("exit", () => {
      if (!stopped) void wait(restartMs).then(() => (stopped ? undefined : start(ports).catch(() => {})));
    });
    return one.ready;
  };
  const begin = async (): Promise<Record<string, string>> => {
    if (fakes.length === 0) return {};
    const portOf = async ({ name }: Fake) => [name, options.portOf?.(name) ?? (await freePort())] as const;
    return start(Object.fromEntries(await Promise.all(fakes.map(portOf))));
  };
  return {
    env: begin(),
    async stop() {
      stopped = true;
      if (child !== null) await options.children.stop(child, stopMs);
    },
  };
}

/** Each is a module that serves as soon as it is imported. */
const importAll = `for (const file of process.argv.slice(1))
  import(file).catch((error) => { console.error(file, error); process.exit(1); })`;

function startOne(
  name: string,
  fakes: readonly Fake[],
  options: FakesOptions & { readonly args: readonly string[] },
): { child: ChildProcess; ready: Promise<Record<string, string>>; lastLines: () => string } {
  const lines: string[] = [];
  const waiting = new Set(fakes.map((each) => each.name));
  const reported: Record<string, string> = {};
  const ready = Promise.withResolvers<Record<string, string>>();
  ready.promise.catch(() => {});
  const child = options.children.start({
    name,
    args: options.args,
    env: options.env,
    onLine(line, stream) {
      lines.push(line);
      if (lines.length > 20) lines.shift();
      const said = stream === "stdout" ? readyIn(line) : null;
      if (said === null) return options.onLine?.(line, stream);
      waiting.delete(said.ready);
      Object.assign(reported, said.env);
      if (waiting.size === 0) ready.resolve(reported);
    },
  });
  const textOf = (why: string): string => `${[...waiting].join(", ")} ${why}:\n${lines.join("\n")}`;
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

function readyIn(line: string): { readonly ready: string; readonly env: Readonly<Record<string, string>> } | null {
  return line.startsWith('{"ready"') ? JSON.parse(line) : null;
}
