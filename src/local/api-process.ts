import type { ChildProcess } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { RejectedSave } from "../api/saves.ts";
import type { Children } from "./process/children.ts";
import { freePort } from "./process/free-port.ts";

export interface ApiProcess {
  readonly url: string;
  /** The code that was saved cannot be used: the open pages show why, until one can. */
  reject(save: RejectedSave): void;
  /** The code changed: the same address, the new code. */
  refresh(): Promise<void>;
  stop(): Promise<void>;
}

const file = fileURLToPath(new URL("./api-server.ts", import.meta.url));
const stopMs = 3_000;
const restartMs = 1_000;
/** A process that leaves this many in a row unanswered hangs: in an endless loop, or stopped. */
const pingMs = 2_000;
const pingsUnansweredMax = 5;

/** The HTTP API as a child process, started again when it dies. @throws Error when it does not come up the first time. */
export async function startApi(options: {
  children: Children;
  env: Readonly<Record<string, string>>;
  port: number;
  onHung?: (what: string) => void;
  onLine?: (line: string, stream: "stdout" | "stderr") => void;
}): Promise<ApiProcess> {
  const { children, env, onLine } = options;
  const port = options.port === 0 ? await freePort() : options.port;
  let stopped = false;
  let current: ChildProcess | null = null;

  const begin = async (): Promise<void> => {
    const lines: string[] = [];
    const child = children.start({
      name: "api",
      args: [file],
      env: { ...env, PORT: String(port) },
      ipc: true,
      onLine(line, stream) {
        lines.push(line);
        if (lines.length > 20) lines.shift();
        onLine?.(line, stream);
      },
    });
    current = child;
    const ready = Promise.withResolvers<void>();
    child.once("message", () => {
      ready.resolve();
      if (!isDebugged(env)) watch(child, options.onHung);
    });
    child.once("error", (error) => ready.reject(error));
    child.once("close", (code, signal) => {
      ready.reject(new Error(`the API ended with ${signal ?? `code ${code}`}:\n${lines.join("\n")}`));
      if (stopped || current !== child) return;
      current = null;
      void wait(restartMs).then(() => (stopped || current !== null ? undefined : begin().catch(() => {})));
    });
    await ready.promise;
  };

  await begin();
  const end = async (): Promise<void> => {
    const child = current;
    current = null;
    if (child !== null) await children.stop(child, stopMs);
  };
  return {
    url: `http://127.0.0.1:${port}`,
    reject: (rejected) => void current?.send({ rejected }, () => {}),
    async refresh() {
      await end();
      if (!stopped) await begin();
    },
    async stop() {
      stopped = true;
      await end();
    },
  };
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
