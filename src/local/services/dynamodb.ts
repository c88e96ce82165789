import { mkdirSync } from "node:fs";
import type { Server, ServerResponse } from "node:http";
import { dynalite } from "./local-packages.ts";
import { onlyPrograms, listenOnLoopback, type LocalServer } from "./server.ts";

/** How long `stop` waits for the answers to clients that are there. */
const answersMs = 1_000;
/** How long it then waits for requests without a client: a busy machine works on them for seconds. */
const workMs = 30_000;

/** The DynamoDB API on loopback. Its tables lie in `folder` and survive kill -9; null keeps them in memory. */
export async function startDynamodb(options: { folder: string | null; port?: number }): Promise<LocalServer> {
  if (options.folder !== null) mkdirSync(options.folder, { recursive: true });
  const server = dynalite({ createTableMs: 0, ...(options.folder === null ? {} : { path: options.folder }) });
  onlyPrograms(server);
  const idle = watchRequests(server);
  const port = await listenOnLoopback(server, options.port ?? 0, "the DynamoDB API");
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    async stop() {
      await idle(answersMs);
      // A body that is not whole ends here, and no longer counts as work.
      server.closeAllConnections();
      await idle(workMs);
      await new Promise<void>((resolve, reject) => {
        server.closeAllConnections();
        server.close((error) => (error ? reject(error) : resolve()));
      });
    },
  };
}

/**
 * dynalite throws out of a callback, which ends the process, when its tables are closed under a request or a body breaks off: both
 * happen when a client is killed. @returns a function that resolves once no request is under way, or after the time it is given.
 */
function watchRequests(server: Server): (withinMs: number) => Promise<void> {
  const open = new Set<ServerResponse>();
  let onIdle = (): void => {};
  server.on("request", (request, response) => {
    request.removeAllListeners("error").on("error", () => {});
    if (response.writableEnded) return;
    open.add(response);
    const done = (): void => {
      open.delete(response);
      if (open.size === 0) onIdle();
    };
    const end = response.end.bind(response) as (...args: unknown[]) => ServerResponse;
    // A client that is gone gets no answer, and its request is worked on all the same: "close" would come too early.
    response.end = (...args: unknown[]) => {
      done();
      return end(...args);
    };
    request.once("close", () => {
      if (!request.complete) done();
    });
  });
  return async (withinMs) => {
    if (open.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, withinMs);
      onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  };
}
