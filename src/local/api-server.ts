/** The HTTP API in a process of its own, so that an edit of a definition only restarts this. */
import { once } from "node:events";
import type { Server } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import { schemaVersion } from "../adapters/postgres/migrate.ts";
import { createApi } from "../api/api.ts";
import type { PageFiles } from "../api/console.ts";
import { keptSaves, type RejectedSave } from "../api/saves.ts";
import { consoleFiles } from "../console-files.ts";
import { upkeep } from "../core/admin/upkeep.ts";
import { readConfig } from "../config.ts";
import { ownProject } from "../project.ts";
import { openRuntime } from "../runtime.ts";
import manifest from "../../package.json" with { type: "json" };
import { listenOnLoopback } from "./services/server.ts";

// Ctrl-C in a terminal reaches every process of the group; the parent process decides the order in which they end.
process.on("SIGINT", () => {});
process.on("disconnect", () => process.exit(0));

const config = readConfig(process.env, await ownProject());
const runtime = await openRuntime(config, { role: "api" });
await runtime.checkDatabase();
const saves = keptSaves();
const api = createApi({
  ports: runtime.ports,
  operations: runtime.operations,
  registry: runtime.registry,
  lanes: runtime.topology.lanes,
  locks: runtime.ports.locks,
  client: runtime.client,
  version: manifest.version,
  dispatchWindowMs: config.dispatchWindowMs,
  stage: config.stage.name,
  schemaVersion: () => runtime.ports.store.transaction(schemaVersion),
  saves,
  console: pageFiles,
});
const server = createAdaptorServer({ fetch: api.fetch }) as Server;
const port = await listenOnLoopback(server, Number(process.env["PORT"] ?? 0), "the API");
process.on("SIGTERM", () => void stop());
const ending = new AbortController();
void upkeep(runtime.ports, runtime.registry, runtime.operations, {
  owner: `api:${process.pid}`,
  dispatchWindowMs: config.dispatchWindowMs,
  signal: ending.signal,
});
process.send?.({ say: "ready", port });
// The parent asks every few seconds whether this process hangs, and passes on what became of a save.
process.on("message", (message: string | { readonly rejected: RejectedSave }) => {
  if (typeof message === "object") saves.reject(message.rejected);
  process.send?.({ say: "alive" });
});

let files: Promise<PageFiles> | null = null;

/** Built when the page is first opened, so that a start does not wait for it. */
function pageFiles(): Promise<PageFiles> {
  files ??= consoleFiles();
  return files;
}

async function stop(): Promise<void> {
  ending.abort();
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
  await runtime.close();
  process.exit(0);
}
