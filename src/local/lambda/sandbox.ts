import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Children } from "../process/children.ts";
import { hasEnded } from "../process/children.ts";
import type { FromSandbox, ToSandbox } from "./sandbox-message.ts";

export interface SandboxOptions {
  readonly children: Children;
  /** For people: `worker default`. */
  readonly name: string;
  /** The function's file, which exports `handler`. */
  readonly file: string;
  readonly env: Readonly<Record<string, string>>;
  /** An invocation that takes longer is ended with its process. */
  readonly timeoutMs: number;
  /** As of `ChildOptions`. */
  readonly code?: string | undefined;
  readonly onLine?: (line: string, stream: "stdout" | "stderr") => void;
}

/** Where one invocation at a time runs: a process that lives on between invocations. */
export interface Sandbox {
  readonly pid: number;
  /** Rejects when the function's file cannot be imported. */
  readonly ready: Promise<void>;
  /** Resolves when the process is gone. */
  readonly ended: Promise<void>;
  /** @throws Error when the function threw, ran out of time, or its process ended. */
  invoke(event: unknown): Promise<unknown>;
  /** Notifies the function that the messages of the last invocation were deleted. */
  acknowledged(): void;
  /** SIGTERM, then SIGKILL after `graceMs`. */
  stop(graceMs: number): Promise<void>;
  kill(): void;
  readonly hasEnded: boolean;
}

/** A bound for what hangs: at load 30 an import took longer than 30 s, and each new try made the machine busier. */
const importMsMax = 120_000;
const runner = fileURLToPath(new URL("./sandbox-runner.ts", import.meta.url));

export function createSandbox(options: SandboxOptions): Sandbox {
  const { children, name, file, env } = options;
  const child = children.start({
    name,
    args: [runner, file, name],
    env,
    ipc: true,
    ...(options.code === undefined ? {} : { code: options.code }),
    ...(options.onLine === undefined ? {} : { onLine: options.onLine }),
  });
  const ended = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  const talk = conversation(child);
  return {
    pid: child.pid ?? -1,
    ready: talk.ready,
    ended,
    invoke: (event) => talk.invoke(event, options.timeoutMs),
    acknowledged: () => talk.say({ say: "acknowledged" }),
    stop: (graceMs) => children.stop(child, graceMs),
    kill: () => void child.kill("SIGKILL"),
    get hasEnded() {
      return hasEnded(child);
    },
  };
}

interface Conversation {
  readonly ready: Promise<void>;
  invoke(event: unknown, timeoutMs: number): Promise<unknown>;
  say(message: ToSandbox): void;
}

function conversation(child: ChildProcess): Conversation {
  let id = 0;
  const ready = Promise.withResolvers<void>();
  // Callers that await `ready` see the failure; without this line Node would end on it when none does.
  ready.promise.catch(() => {});
  let current: { id: number; resolve: (answer: unknown) => void; reject: (error: Error) => void } | null = null;

  // Lambda gives a function ten seconds to be imported; a busy machine is slower.
  const tooLong = setTimeout(() => {
    fail(`its file was not imported within ${importMsMax / 1_000} s`);
    child.kill("SIGKILL");
  }, importMsMax);
  void ready.promise.then(
    () => clearTimeout(tooLong),
    () => clearTimeout(tooLong),
  );
  const fail = (why: string): void => {
    ready.reject(new Error(why));
    current?.reject(new Error(why));
  };
  child.on("message", (message: FromSandbox) => {
    if (message.say === "ready") return ready.resolve();
    if (message.id !== current?.id) return;
    if (message.say === "answer") current.resolve(message.answer);
    else current.reject(new Error(message.error));
  });
  child.once("exit", (code, signal) => fail(`the process ended with ${signal ?? `code ${code}`}`));
  child.once("error", (error) => fail(`the process could not be started: ${error.message}`));

  const say = (message: ToSandbox): void => {
    // A process that just ended is noticed by its exit.
    if (child.connected) child.send(message, () => {});
  };
  return {
    ready: ready.promise,
    say,
    async invoke(event, timeoutMs) {
      if (hasEnded(child)) throw new Error("the process ended before the invocation");
      const answer = Promise.withResolvers<unknown>();
      current = { id: ++id, resolve: answer.resolve, reject: answer.reject };
      const timer = setTimeout(() => {
        fail(`the invocation took longer than ${timeoutMs} ms`);
        child.kill("SIGKILL");
      }, timeoutMs);
      say({ say: "invoke", id, event, timeoutMs });
      try {
        return await answer.promise;
      } finally {
        clearTimeout(timer);
        current = null;
      }
    },
  };
}
