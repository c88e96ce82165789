import type { ChildProcess } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Children } from "./process/children.ts";
import { freePort } from "./process/free-port.ts";
import type { SetupReport } from "./setup/setup-report.ts";

type Fake = SetupReport["fakes"][number];

export interface FakesOptions {
  readonly children: Children;
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  /** Where each listens. Default: a free port, which is part of the address it reports. */
  readonly portOf?: (name: string) => number | undefined;
  readonly onLine?: (line: string, stream: "stdout" | "stderr") => void;
}

/** The outside targets of the examples, as `examples/fake.ts` describes them. */
export interface Fakes {
  /** The addresses that they reported, for the workers. */
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

const readyMsMax = 20_000;
const restartMs = 500;
const stopMs = 5_000;

/** @throws Error naming the fake that failed, with what it wrote last. */
export async function startFakes(fakes: readonly Fake[], options: FakesOptions): Promise<Fakes> {
  const folder = join(options.home, "fakes");
  mkdirSync(folder, { recursive: true });
  const env = { ...options.env, FAKE_HOME: folder };
  const started = await Promise.all(
    fakes.filter(({ once }) => !once).map((each) => keepRunning(each, { ...options, env })),
  );
  const stop = async (): Promise<void> => void (await Promise.all(started.map((each) => each.stop())));
  try {
    // Once the targets serve: a system that runs already then tries no row whose target is not there.
    for (const each of fakes.filter(({ once }) => once)) await runOnce(each, { ...options, env });
  } catch (error) {
    await stop();
    throw error;
  }
  return { env: Object.assign({}, ...started.map((each) => each.env)) as Record<string, string>, stop };
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
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** One that dies is started again on its port: the workers know its address already. */
async function keepRunning(fake: Fake, options: FakesOptions): Promise<Running> {
  const port = String(options.portOf?.(fake.name) ?? (await freePort()));
  let stopped = false;
  let current = startOne(fake, options, { PORT: port });
  const watch = (): void => {
    current.child.once("exit", () => {
      if (stopped) return;
      void wait(restartMs).then(() => {
        if (stopped) return;
        current = startOne(fake, options, { PORT: port });
        watch();
      });
    });
  };
  const env = await current.ready;
  watch();
  return {
    env,
    async stop() {
      stopped = true;
      await options.children.stop(current.child, stopMs);
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
  const fail = (why: string): void => ready.reject(new Error(`${fake.name} ${why}:\n${lines.join("\n")}`));
  child.once("exit", (code, signal) => fail(`ended with ${signal ?? `code ${code}`}`));
  child.once("error", (error) => fail(error.message));
  const timer = setTimeout(() => fail(`was not ready after ${readyMsMax / 1_000} s`), readyMsMax);
  void ready.promise.finally(() => clearTimeout(timer)).catch(() => {});
  return { child, ready: ready.promise, lastLines: () => lines.join("\n") };
}

function readyEnv(line: string): Record<string, string> | null {
  if (!line.startsWith('{"ready"')) return null;
  const { env } = JSON.parse(line) as { env?: Record<string, string> };
  return env ?? {};
}
