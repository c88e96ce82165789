/** The HTTP API in a process of its own, so that its memory is counted alone. Ends with its parent. */
import type { Server } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import { listenOnLoopback } from "../src/local/services/server.ts";
import { apiOn } from "./api-app.ts";
import { openConnections, createPostgresStore } from "../src/adapters/postgres/index.ts";

const url = process.argv[2] ?? "";
const store = (connections: number) =>
  createPostgresStore(openConnections({ url, applicationName: "belfry bench", connections }));
const server = createAdaptorServer({ fetch: apiOn({ url, store }).fetch }) as Server;
const port = await listenOnLoopback(server, 0, "the API");
process.send?.({ url: `http://127.0.0.1:${port}`, pid: process.pid });
process.once("disconnect", () => process.exit(0));
