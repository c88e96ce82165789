/** The HTTP API in a process of its own, so that an edit of a definition only restarts this. */
import type { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { schemaVersion } from "../postgres/schema-version.ts";
import { createApi } from "../api/api.ts";
import { localCaller } from "../api/caller.ts";
import type { PageFiles } from "../api/console.ts";
import { keptSaves, type RunningCode } from "../api/saves.ts";
import { consoleFiles } from "../compose/console-files.ts";
import { readConfig } from "../stage/config.ts";
import { apiServer } from "./api-listener.ts";
import { ownProject } from "../stage/project.ts";
import { openRuntime } from "../compose/runtime.ts";
import manifest from "../../package.json" with { type: "json" };

// Ctrl-C in a terminal reaches every process of the group; the parent process decides the order in which they end.
process.on("SIGINT", () => {});
process.on("disconnect", () => process.exit(0));

const config = readConfig(process.env, await ownProject());
const runtime = await openRuntime(config, { role: "api" });
await runtime.checkDatabase();
const saves = keptSaves();
const local = localCaller(config.stage);
const api = createApi({
  ports: runtime.ports,
  identify: () => local,
  insight: runtime.insight,
  registry: runtime.registry,
  lanes: runtime.topology.lanes,
  locks: runtime.ports.locks,
  client: runtime.client,
  version: manifest.version,
  stage: config.stage.name,
  databaseUsd: config.databaseUsd,
  schemaVersion: () => runtime.ports.store.transaction(schemaVersion),
  saves,
  console: pageFiles,
});
/** A request is answered within 5 s. */
const answersMs = 5_500;
const lookMs = 50;
const turnedMs = 1_000;
const open = new Set<Socket>();
const server = apiServer(api.fetch, runtime.ports.random);
// The parent process listens and hands over each connection; this begins the server's own timeouts, as `listen` would.
server.emit("listening");
process.on("SIGTERM", () => void stop(0));
process.send?.({ say: "ready" });
process.on("message", (said: string | { readonly running: RunningCode }, socket?: Socket) => {
  if (typeof said === "object") saves.tell(said.running);
  else if (said === "connection") {
    serve(socket);
    process.send?.({ say: "taken" });
  } else if (said === "end") void stop(answersMs);
});
// Nothing stands before it on its way: what the parent sends waits behind the connections that it hands over.
setInterval(() => process.send?.({ say: "turned" }), turnedMs);

/** Undefined: its caller has left already. */
function serve(socket: Socket | undefined): void {
  if (socket === undefined) return;
  open.add(socket);
  socket.once("close", () => open.delete(socket));
  server.emit("connection", socket);
  socket.resume();
}

let files: Promise<PageFiles> | null = null;

/** Built when the page is first opened, so that a start does not wait for it. */
function pageFiles(): Promise<PageFiles> {
  files ??= consoleFiles();
  return files;
}

/** Answers what was asked within that time; then every connection ends, also of those that follow the events. */
async function stop(withinMs: number): Promise<void> {
  for (let leftMs = withinMs; leftMs > 0 && open.size > 0; leftMs -= lookMs) {
    await wait(lookMs);
    server.closeIdleConnections();
  }
  server.closeAllConnections();
  await runtime.close();
  process.exit(0);
}
