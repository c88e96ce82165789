import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { RejectedSave } from "../api/saves.ts";
import { type Door, openDoor } from "./door.ts";
import { type Children, hasEnded } from "./process/children.ts";

export interface ApiProcess {
  readonly url: string;
  /** The code that was saved cannot be used: the open pages show why, until one can. */
  reject(save: RejectedSave): void;
  /** The code changed: the same address, the new code. @throws Error when it does not come up; the old one then serves on. */
  refresh(): Promise<void>;
  stop(): Promise<void>;
}

const file = fileURLToPath(new URL("./api-server.ts", import.meta.url));
const stopMs = 3_000;
const restartMs = 1_000;
/** For what a replaced process still answers. */
const retireMs = 5_000;
/** A process that leaves this many in a row unanswered hangs: in an endless loop, or stopped. */
const pingMs = 2_000;
const pingsUnansweredMax = 5;

/** The HTTP API as a child process, started again when it dies. @throws Error when it does not come up the first time. */
export async function startApi(options: {
  children: Children;
  env: Readonly<Record<string, string>>;
  /** The first that is not taken. */
  ports: readonly number[];
  onHung?: (what: string) => void;
  onLine?: (line: string, stream: "stdout" | "stderr") => void;
}): Promise<ApiProcess> {
  const { children, env, onLine } = options;
  const door = await openFirst(options.ports);
  let stopped = false;
  let current: ChildProcess | null = null;
  let retiring: Promise<unknown> = Promise.resolve();

  const begin = (): Promise<ChildProcess> => started({ children, env, onLine });
  const again = (): void => {
    void wait(restartMs).then(() => (stopped || current !== null ? undefined : begin().then(serve, failed)));
  };
  const failed = (error: Error): void => {
    onLine?.(error.message, "stderr");
    again();
  };
  const serve = (child: ChildProcess): void => {
    if (stopped) return void children.stop(child, stopMs);
    const before = current;
    current = child;
    door.leadTo(child);
    if (!isDebugged(env)) watch(child, options.onHung);
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
    serve(await begin());
  } catch (error) {
    door.close();
    throw error;
  }
  return {
    url: `http://127.0.0.1:${door.port}`,
    reject: (rejected) => void current?.send({ rejected }, () => {}),
    async refresh() {
      serve(await begin());
    },
    async stop() {
      stopped = true;
      door.close();
      if (current !== null) await children.stop(current, stopMs);
      await retiring;
    },
  };
}

async function openFirst([port = 0, ...others]: readonly number[]): Promise<Door> {
  try {
    return await openDoor(port, "the API");
  } catch (error) {
    if (others.length === 0) throw error;
    return await openFirst(others);
  }
}

/** A process that is ready to serve; its lines are shown from then on. @throws Error with its last lines when it ended before. */
async function started({
  children,
  env,
  onLine,
}: {
  children: Children;
  env: Readonly<Record<string, string>>;
  onLine: ((line: string, stream: "stdout" | "stderr") => void) | undefined;
}): Promise<ChildProcess> {
  const early: { line: string; stream: "stdout" | "stderr" }[] = [];
  let show: typeof onLine;
  const child = children.start({
    name: "api",
    args: [file],
    env,
    ipc: true,
    onLine(line, stream) {
      if (show !== undefined) return show(line, stream);
      early.push({ line, stream });
      if (early.length > 20) early.shift();
    },
  });
  const ready = Promise.withResolvers<void>();
  child.once("message", () => ready.resolve());
  child.once("error", (error) => ready.reject(error));
  child.once("close", (code, signal) =>
    ready.reject(
      new Error(`the API ended with ${signal ?? `code ${code}`}:\n${early.map(({ line }) => line).join("\n")}`),
    ),
  );
  await ready.promise;
  show = onLine;
  for (const { line, stream } of early) onLine?.(line, stream);
  return child;
}

/** It answers what it has begun; the message comes after every connection that it was handed. */
async function retire(children: Children, child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const ended = once(child, "exit");
  child.send("end", () => {});
  await Promise.race([ended, wait(retireMs, undefined, { ref: false })]);
  await children.stop(child, stopMs);
}

/** At a breakpoint it answers nothing, and must not be ended. */
const isDebugged = (env: Readonly<Record<string, string>>): boolean =>
  env["VSCODE_INSPECTOR_OPTIONS"] !== undefined || /--inspect/.test(env["NODE_OPTIONS"] ?? "");

/** Ends a process that hangs, so that it is started again. Pings are counted, not time: a laptop that slept answers later. */
function watch(child: ChildProcess, onHung: ((what: string) => void) | undefined): void {
  let unanswered = 0;
  child.on("message", () => (unanswered = 0));
  const timer = setInterval(() => {
    if (!child.connected) return clearInterval(timer);
    if (unanswered >= pingsUnansweredMax) {
      clearInterval(timer);
      onHung?.(`did not answer for ${(unanswered * pingMs) / 1_000} s`);
      child.kill("SIGKILL");
      return;
    }
    unanswered += 1;
    child.send("ping", () => {});
  }, pingMs);
  child.once("exit", () => clearInterval(timer));
}
