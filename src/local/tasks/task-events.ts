import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Children } from "../process/children.ts";
import type { TaskEvent } from "./ecs-task.ts";
import { createSandbox } from "../lambda/sandbox.ts";
import { SandboxPool } from "../lambda/sandbox-pool.ts";
import type { Successor } from "../successor.ts";

export interface TaskEventsOptions {
  readonly children: Children;
  readonly env: Readonly<Record<string, string>>;
  readonly onLine?: (line: string, stream: "stdout" | "stderr") => void;
  readonly onProblem: (what: string, error: unknown) => void;
}

/** The rule between ECS and the function that takes its events. */
export interface TaskEvents {
  /** Starts the function before the first event, where one is expected: an event should not wait for it. */
  warm(): void;
  deliver(event: TaskEvent): void;
  /** For later events. */
  prepare(code: string): Promise<Successor>;
  stop(): Promise<void>;
}

const entry = fileURLToPath(new URL("../../../functions/ecs-events.ts", import.meta.url));
const name = "ecs-events";
const timeoutMs = 30_000;
const stopMs = 5_000;
/** Lambda repeats a failed asynchronous invocation twice. */
const triesMax = 3;
const againMs = 1_000;

/** The deployed rule passes stopped tasks only, and invokes its function asynchronously. */
export function createTaskEvents(options: TaskEventsOptions): TaskEvents {
  const { children, env, onLine, onProblem } = options;
  const over = new AbortController();
  const pool = new SandboxPool({
    max: 1,
    onBroken: (error) => onProblem("could not start", error),
    create: (code) =>
      createSandbox({ children, name, file: entry, env, timeoutMs, code, ...(onLine === undefined ? {} : { onLine }) }),
  });
  const invoke = async (event: TaskEvent): Promise<void> => {
    const sandbox = await pool.acquire(over.signal);
    if (sandbox === null) return;
    try {
      await sandbox.invoke(event);
    } finally {
      pool.release(sandbox);
    }
  };
  const deliver = async (event: TaskEvent): Promise<void> => {
    for (let attempt = 1; attempt <= triesMax && !over.signal.aborted; attempt += 1) {
      try {
        return await invoke(event);
      } catch (error) {
        if (over.signal.aborted) return;
        onProblem(attempt < triesMax ? "failed and is tried again" : "failed; the lease decides", error);
        await wait(againMs * attempt, undefined, { signal: over.signal }).catch(() => {});
      }
    }
  };
  return {
    warm: () =>
      void pool.acquire(over.signal).then((sandbox) => (sandbox === null ? undefined : pool.release(sandbox))),
    deliver: (event) => void (event.detail.lastStatus === "STOPPED" ? deliver(event) : undefined),
    prepare: (code) => pool.prepare(code),
    async stop() {
      over.abort();
      await pool.stop(stopMs);
    },
  };
}
