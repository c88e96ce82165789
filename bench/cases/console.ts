import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import type { Page } from "playwright-core";
import { consolePage } from "../../src/api/console.ts";
import { bundleConsole } from "../../src/bundle-console.ts";
import { openBrowser, openPage } from "../../test/console/browser.ts";
import { jobOf, run as runOf, summary, tasks as someTasks } from "../../test/console/scene.ts";
import { type Figure, measured, rounds } from "../measure.ts";

const tasks = 1_000;
const width = 40;
const jobs = 100_000;
const rowHeight = 34;
const framesPerScroll = 200;

/** The page itself, in a real browser, before a stand-in that answers at once: what it adds to the API's own time. */
export async function page(): Promise<readonly Figure[]> {
  const opened = await openBrowser();
  if (typeof opened === "string") throw new Error(`no browser runs here: ${opened}`);
  const server = await serve();
  try {
    const { page: tab, close } = await openPage(opened.browser, server.url);
    const first: number[] = [];
    const graph: number[] = [];
    const frames: number[] = [];
    const rest: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      first.push(await timeUntil(tab, `${server.url}/console/jobs`, ".row"));
      graph.push(await timeUntil(tab, `${server.url}/console/runs/7?view=graph`, `.cell >> nth=${tasks - 1}`));
    }
    await timeUntil(tab, `${server.url}/console/jobs`, ".row");
    await loadAll(tab);
    for (let round = 0; round < rounds; round += 1) {
      rest.push(await slowestFrame(tab, "rest"));
      frames.push(await slowestFrame(tab, "scroll"));
    }
    await close();
    return [
      measured("console: first rows of the list", "ms", first, { valueMax: 1_000 }),
      measured(`console: graph of ${tasks} tasks`, "ms", graph, { valueMax: 1_000 }),
      measured(`console: slowest frame while ${jobs} rows are scrolled`, "ms", frames, { valueMax: 50 }),
      measured("console: slowest frame of the same list at rest", "ms", rest, { info: true }),
    ];
  } finally {
    await opened.close();
    await server.close();
  }
}

async function timeUntil(tab: Page, url: string, selector: string): Promise<number> {
  const begin = performance.now();
  await tab.goto(url);
  await tab.locator(selector).first().waitFor();
  return performance.now() - begin;
}

const frame = "const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));";

/** A person who holds the End key until nothing follows. */
async function loadAll(tab: Page): Promise<void> {
  await tab.evaluate(`(async () => {
    ${frame}
    const box = document.querySelector(".rows");
    while (box.scrollHeight < ${jobs * rowHeight}) { box.scrollTop = box.scrollHeight; await frame(); }
  })()`);
}

/** From the end to the top in big steps, one in each frame; at rest the same frames show what the machine itself costs. */
async function slowestFrame(tab: Page, how: "scroll" | "rest"): Promise<number> {
  return (await tab.evaluate(`(async () => {
    ${frame}
    const box = document.querySelector(".rows");
    let slowest = 0;
    let before = await frame();
    for (let step = 0; step < ${framesPerScroll}; step += 1) {
      if (${how === "scroll"}) box.scrollTop = ${jobs * rowHeight} * (1 - step / ${framesPerScroll});
      const now = await frame();
      slowest = Math.max(slowest, now - before);
      before = now;
    }
    return slowest;
  })()`)) as number;
}

async function serve(): Promise<{ url: string; close: () => Promise<void> }> {
  const files = await bundleConsole();
  const app = new Hono();
  app.route(
    "/console",
    consolePage(() => Promise.resolve(files)),
  );
  app.get("/jobs", (c) => c.json(pageOfJobs(Number(c.req.query("cursor") ?? jobs + 1), Number(c.req.query("limit")))));
  app.get("/runs/:id", (c) => c.json({ ...runOf, progress: { ...runOf.progress, total: tasks } }));
  app.get("/runs/:id/tasks", (c) =>
    c.json(pageOfTasks(Number(c.req.query("cursor") ?? 0), Number(c.req.query("limit")))),
  );
  app.get("/summary", (c) => c.json(summary));
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

function pageOfJobs(before: number, limit: number) {
  const from = Math.min(before - 1, jobs);
  const rows = Array.from({ length: Math.max(0, Math.min(limit, from)) }, (_, index) => jobOf(from - index));
  return { jobs: rows, nextCursor: from > limit ? String(from - limit + 1) : null, complete: true };
}

/** Layers of 40, each task behind two of the layer before. */
function pageOfTasks(after: number, limit: number) {
  const [task] = someTasks;
  const rows = Array.from({ length: Math.min(limit, tasks - after) }, (_, index) => {
    const n = after + index + 1;
    const left = n - width;
    return {
      ...task,
      job: String(n),
      task: `task-${n}`,
      after: left > 0 ? [String(left), String(Math.max(1, left - 1))] : [],
    };
  });
  return { tasks: rows, nextCursor: after + limit < tasks ? String(after + limit) : null };
}
