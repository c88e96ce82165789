import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { Launch, Try } from "../core/ports.ts";
import type { Children } from "./children.ts";
import { listen } from "./server.ts";

export interface TasksOptions {
  readonly children: Children;
  /** Of the tasks; known only after this service, whose address is part of it, has started. */
  readonly env: () => Readonly<Record<string, string>>;
  readonly onLine?: (line: string, stream: "stdout" | "stderr") => void;
}

/** Where jobs on Fargate run on this machine: each task a process of its own, which no worker's end touches. */
export interface Tasks {
  readonly url: string;
  stop(): Promise<void>;
}

const entry = fileURLToPath(new URL("../../scheduler-task/main.ts", import.meta.url));
const stopMs = 18_000;

export async function startTasks(options: TasksOptions): Promise<Tasks> {
  const { children } = options;
  const running = new Map<string, ChildProcess>();
  let isOver = false;

  const launch = ({ jobId, attempt, kind, worker }: Launch): void => {
    const name = nameOf({ jobId, attempt });
    if (isOver || running.has(name)) return;
    const child = children.start({
      name: `task ${kind}`,
      args: [entry, "run-job", jobId, String(attempt), worker],
      env: options.env(),
      ...(options.onLine === undefined ? {} : { onLine: options.onLine }),
    });
    running.set(name, child);
    for (const end of ["exit", "error"] as const) child.once(end, () => running.delete(name));
  };
  const end = async (child: ChildProcess | undefined): Promise<void> => {
    if (child !== undefined) await children.stop(child, stopMs);
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const task = JSON.parse(await text(request)) as Launch;
    if (request.method === "POST") launch(task);
    else void end(running.get(nameOf(task)));
    response.writeHead(204).end();
  };

  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.writeHead(400).end("not a task"));
  });
  const port = await listen(server, 0, "the task service");
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      isOver = true;
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await Promise.all([closed, ...[...running.values()].map(end)]);
    },
  };
}

const nameOf = ({ jobId, attempt }: Try): string => `${jobId}/${attempt}`;
