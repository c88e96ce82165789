import { mkdirSync } from "node:fs";
import { dynalite } from "./local-packages.ts";
import { onlyPrograms } from "./only-programs.ts";
import { listenOnLoopback, type LocalServer } from "./server.ts";

/** The DynamoDB API on loopback. Its tables lie in `folder` and survive kill -9; null keeps them in memory. */
export async function startDynamodb(options: { folder: string | null; port?: number }): Promise<LocalServer> {
  if (options.folder !== null) mkdirSync(options.folder, { recursive: true });
  const server = dynalite({ createTableMs: 0, ...(options.folder === null ? {} : { path: options.folder }) });
  onlyPrograms(server);
  const port = await listenOnLoopback(server, options.port ?? 0, "the DynamoDB API");
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    stop: () =>
      new Promise((resolve, reject) => {
        server.closeAllConnections();
        server.close((error) => (error ? reject(error) : resolve()));
      }),
  };
}
