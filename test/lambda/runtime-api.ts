/** Lambda's Runtime API on loopback: one function, one sandbox at a time, killed at the end of its time. */
import { type ChildProcess, spawn } from "node:child_process";
import { bareEnvironment } from "../support/bare-environment.ts";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export interface LambdaFunction {
  /** The code's folder, as it is in the asset. */
  readonly folder: string;
  /** As the template says: `index.handler`. */
  readonly handler: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

export interface Lambda {
  /** @returns its answer as JSON. @throws Error with what the function threw, how it failed to start, or that its time was over. */
  invoke(event: unknown, options?: { readonly timeoutMs: number }): Promise<string>;
  /** Processes there ever were. */
  readonly pids: readonly number[];
  stop(): Promise<void>;
}

interface Waiting {
  readonly event: string;
  readonly timeoutMs: number;
  readonly done: PromiseWithResolvers<string>;
}

const bootstrap = fileURLToPath(new URL("./bootstrap.mjs", import.meta.url));

export async function startLambda(fn: LambdaFunction): Promise<Lambda> {
  const pids: number[] = [];
  const tmp = mkdtempSync(join(tmpdir(), "belfry-lambda-tmp-"));
  let sandbox: ChildProcess | null = null;
  let said = "";
  let current: Waiting | null = null;
  let asking: ServerResponse | null = null;

  const give = (): void => {
    if (asking === null || current === null) return;
    const headers = {
      "lambda-runtime-aws-request-id": "1",
      "lambda-runtime-deadline-ms": String(Date.now() + current.timeoutMs),
    };
    asking.writeHead(200, headers).end(current.event);
    asking = null;
  };
  const fail = (why: string): void => current?.done.reject(new Error(`${why}\n${said.slice(-2_000)}`));
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url?.replace("/2018-06-01/runtime", "") ?? "";
    if (path === "/invocation/next") {
      asking = response;
      return give();
    }
    const body = Buffer.concat(await request.toArray()).toString();
    response.writeHead(202).end();
    if (path.endsWith("/response")) current?.done.resolve(body);
    else fail(body);
  };
  const server = createServer((request, response) => void receive(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;

  const start = (): ChildProcess => {
    const child = spawn(process.execPath, [bootstrap], {
      cwd: fn.folder,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...fn.env,
        ...bareEnvironment,
        TZ: "UTC",
        AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${port}`,
        AWS_LAMBDA_FUNCTION_NAME: "belfry-test",
        LAMBDA_TASK_ROOT: fn.folder,
        // It stays when a sandbox is started again after a crash.
        TMPDIR: tmp,
        _HANDLER: fn.handler,
      },
    });
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data: Buffer) => (said += data.toString()));
    child.once("exit", () => {
      if (sandbox !== child) return;
      sandbox = null;
      fail("the sandbox ended");
    });
    pids.push(child.pid ?? 0);
    return child;
  };

  return {
    pids,
    async invoke(event, { timeoutMs } = { timeoutMs: fn.timeoutMs }) {
      sandbox ??= start();
      current = { event: JSON.stringify(event), timeoutMs, done: Promise.withResolvers<string>() };
      const timer = setTimeout(() => {
        fail(`timed out after ${timeoutMs} ms`);
        sandbox?.kill("SIGKILL");
        sandbox = null;
        asking = null;
      }, timeoutMs);
      give();
      try {
        return await current.done.promise;
      } finally {
        clearTimeout(timer);
        current = null;
      }
    },
    async stop() {
      const last = sandbox;
      sandbox = null;
      if (last !== null && last.exitCode === null) {
        last.kill("SIGKILL");
        await once(last, "exit");
      }
      server.closeAllConnections();
      server.close();
      rmSync(tmp, { recursive: true, force: true });
    },
  };
}
