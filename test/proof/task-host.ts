import { fileURLToPath } from "node:url";
import { type LaunchResult, type LocalEcs, startEcs } from "../../src/local/tasks/ecs.ts";
import type { RunTaskRequest, TaskEvent } from "../../src/local/tasks/ecs.ts";
import { createSandbox, type Sandbox } from "../../src/local/lambda/sandbox.ts";
import { taskSettings } from "../../src/local/tasks/tasks.ts";
import type { System } from "./system.ts";

/** ECS and EventBridge of a proof: real processes for tasks, and events that the case may lose and repeat. */
export interface TaskHost {
  readonly ecs: LocalEcs;
  /** For the workers of the system. */
  readonly env: Readonly<Record<string, string>>;
  /** Every event of a task that stopped, with the machine's time (milliseconds since 1970) when it was sent. */
  readonly stops: { readonly at: number; readonly event: TaskEvent }[];
  /** Delivers it (again) to the function, in the process that takes all events or in a new one. */
  deliver(event: TaskEvent, where?: "same" | "new"): Promise<void>;
  stop(): Promise<void>;
}

export interface TaskHostOptions {
  readonly fate: (request: RunTaskRequest) => LaunchResult;
  /** Whether EventBridge loses this one. */
  readonly loses: (event: TaskEvent) => boolean;
}

const entry = fileURLToPath(new URL("../../scheduler-task/main.ts", import.meta.url));
const functionFile = fileURLToPath(new URL("../../functions/ecs-events.ts", import.meta.url));
/** From SIGTERM to SIGKILL: short, so that a handler that does not listen does not make the case long. */
const stopMs = 1_500;
const invocationMs = 30_000;

export async function startTaskHost(system: System, { fate, loses }: TaskHostOptions): Promise<TaskHost> {
  const { processes } = system;
  const sandboxes: Sandbox[] = [];
  const open = (): Sandbox => {
    const about = { children: processes, name: "ecs-events", file: functionFile, env: system.env };
    const sandbox = createSandbox({ ...about, timeoutMs: invocationMs });
    sandboxes.push(sandbox);
    return sandbox;
  };
  const usual = open();
  let last: Promise<unknown> = usual.ready;
  /** One invocation at a time, as a sandbox has it. */
  const deliver: TaskHost["deliver"] = async (event, where = "same") => {
    if (where === "new") {
      const fresh = open();
      await fresh.ready;
      await fresh.invoke(event);
      return;
    }
    const mine = last.then(() => usual.invoke(event));
    last = mine.catch(() => {});
    await mine;
  };
  const stops: TaskHost["stops"] = [];
  const ecs = await startEcs({
    fate,
    start: (command, more) =>
      processes.start({ name: "task", args: [entry, ...command], env: { ...system.env, ...env, ...more } }),
    stop: (child) => processes.stop(child, stopMs),
    onEvent(event) {
      if (event.detail.lastStatus !== "STOPPED") return;
      stops.push({ at: Date.now(), event });
      if (!loses(event)) deliver(event).catch((error: unknown) => process.stderr.write(`${String(error)}\n`));
    },
  });
  const env = taskSettings(ecs.url);
  await usual.ready;
  return {
    ecs,
    env,
    stops,
    deliver,
    async stop() {
      await ecs.stop();
      await Promise.all(sandboxes.map((sandbox) => sandbox.stop(1_000)));
    },
  };
}
