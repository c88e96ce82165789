import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { RunningCode } from "../api/saves.ts";
import { type StablePort, openDoor } from "./door.ts";
import { type Children, hasEnded, type OnLine } from "./process/children.ts";
import { startsDebugged } from "./process/debug-ports.ts";
import { startReady, type Successor } from "./process/ready-child.ts";
import { watchdog } from "./watchdog.ts";

export interface ApiProcess {
  readonly url: string;
  /** What `/health` and the open pages show of the code, also after a restart. */
  tell(code: RunningCode): void;
  /** The same address, the new code. @throws Error when it does not come up; the old one serves on. */
  prepare(code: string): Promise<Successor>;
  stop(): Promise<void>;
}

const file = fileURLToPath(new URL("./api-server.ts", import.meta.url));
const stopMs = 3_000;
const restartMs = 1_000;
/** For what a replaced process still answers. */
const retireMs = 7_000;

interface ApiProcessOptions {
  readonly children: Children;
  readonly env: Readonly<Record<string, string>>;
  /** The first that is not taken. */
  readonly ports: readonly number[];
  readonly onHung?: (what: string) => void;
  readonly onLine?: OnLine | undefined;
}

/** The HTTP API as a child process, started again when it dies. @throws Error when it does not come up the first time. */
export async function startApi(options: ApiProcessOptions): Promise<ApiProcess> {
  const { children, env, onLine } = options;
  const door = await openFirst(options.ports);
  const dog = watchdog((why) => options.onHung?.(why));
  let stopped = false;
  let current: ChildProcess | null = null;
  let retiring: Promise<unknown> = Promise.resolve();
  let running: RunningCode | null = null;

  const again = (): void => {
    void wait(restartMs).then(() => (stopped || current !== null ? undefined : begin(options).then(serve, failed)));
  };
  const failed = (error: Error): void => {
    onLine?.(error.message, "stderr");
    again();
  };
  const serve = (child: ChildProcess): void => {
    if (stopped) return void children.stop(child, stopMs);
    const before = current;
    current = child;
    if (running !== null) child.send({ running }, () => {});
    door.leadTo(child);
    // At a breakpoint it answers nothing, and must not be ended.
    if (!startsDebugged(env)) dog.watch(child);
    const ended = (): void => {
      if (current !== child) return;
      current = null;
      door.leadTo(null);
      if (!stopped) again();
    };
    if (hasEnded(child)) ended();
    else child.once("close", ended);
    if (before !== null) retiring = Promise.all([retiring, retire(children, before)]);
  };

  try {
    serve(await begin(options));
  } catch (error) {
    door.close();
    throw error;
  }
  return {
    url: `http://127.0.0.1:${door.port}`,
    tell(code) {
      running = code;
      current?.send({ running }, () => {});
    },
    async prepare(code) {
      const child = await begin(options, code);
      return {
        isAlive: () => !hasEnded(child),
        takeOver() {
          dog.forgive();
          serve(child);
        },
        end: () => children.stop(child, stopMs),
      };
    },
    async stop() {
      stopped = true;
      door.close();
      if (current !== null) await children.stop(current, stopMs);
      await retiring;
    },
  };
}

const begin = (
  { children, env, onLine }: Pick<ApiProcessOptions, "children" | "env" | "onLine">,
  code?: string,
): Promise<ChildProcess> =>
  startReady(children, "the API", {
    name: "api",
    args: [file],
    env,
    code,
    onLine,
  });

async function openFirst([port = 0, ...others]: readonly number[]): Promise<StablePort> {
  try {
    return await openDoor(port, "the API");
  } catch (error) {
    if (others.length === 0) throw error;
    return await openFirst(others);
  }
}

/** It answers what it has begun; the message comes after every connection that it was handed. */
async function retire(children: Children, child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const ended = once(child, "exit");
  child.send("end", () => {});
  await Promise.race([ended, wait(retireMs, undefined, { ref: false })]);
  await children.stop(child, stopMs);
}
