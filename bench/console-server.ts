import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import { consolePage } from "../src/api/console.ts";
import { bundleConsole } from "../src/compose/bundle-console.ts";
import { jobOf, largeMap, scheduleOf } from "./console-rows.ts";

export const tasks = 10_000;
export const jobs = 100_000;
export const schedules = 10_000;
export const rowHeight = 34;

/** The page before a fake API that answers at once. `/roof` is a page that scrolls as far and draws nothing. */
export async function serveConsole(): Promise<{ url: string; close: () => Promise<void> }> {
  const files = await bundleConsole();
  const app = new Hono();
  app.route(
    "/console",
    consolePage(() => Promise.resolve(files)),
  );
  app.get("/roof", (c) => c.html(roof));
  app.get("/events", (c) => c.body(new ReadableStream(), 200, { "content-type": "text/event-stream" }));
  app.get("/jobs", (c) => c.json(pageOfJobs(Number(c.req.query("cursor") ?? jobs + 1), Number(c.req.query("limit")))));
  app.get("/runs/:id", (c) => c.json(largeMap(tasks).run));
  app.get("/runs/:id/map", (c) => c.json(largeMap(tasks)));
  app.get("/schedule-outcomes", (c) =>
    c.json(pageOfSchedules(Number(c.req.query("cursor") ?? 0), Number(c.req.query("limit")))),
  );
  const server = createAdaptorServer({ fetch: app.fetch }) as Server;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      const closed = once(server, "close");
      server.close();
      await closed;
    },
  };
}

const roof = `<!doctype html><title>Roof</title><body style="margin:0">
<main style="height:100vh;overflow:auto"><div style="height:${jobs * rowHeight}px"></div></main>`;

function pageOfJobs(before: number, limit: number) {
  const from = Math.min(before - 1, jobs);
  const rows = Array.from({ length: Math.max(0, Math.min(limit, from)) }, (_, index) => jobOf(from - index));
  return { jobs: rows, nextCursor: from > limit ? String(from - limit + 1) : null, complete: true };
}

function pageOfSchedules(from: number, limit: number) {
  const rows = Array.from({ length: Math.min(limit, schedules - from) }, (_, index) => scheduleOf(from + index));
  return { schedules: rows, total: schedules, nextCursor: null };
}
