import type { Browser, Page } from "playwright-core";
import { openBrowser, openPage } from "../../test/console/browser.ts";
import { jobs, rowHeight, schedules, serveConsole, tasks } from "../console-server.ts";
import { compared, type Figure, inTurns, measured, rounds } from "../measure.ts";

const framesPerScroll = 200;
const frameMsMax = 50;

/**
 * The page itself, in a real browser, before a fake API that answers at once: what it adds to the API's own time. A frame
 * is late when the page's thread was busy, or when the machine was: the processor time of that thread's tasks
 * shows the first, and the second is shown by a page that scrolls as far and draws nothing.
 */
export async function page(): Promise<readonly Figure[]> {
  const opened = await openBrowser();
  if (typeof opened === "string") throw new Error(`no browser runs here: ${opened}`);
  const server = await serveConsole();
  try {
    const list = await openPage(opened.browser, server.url);
    const roof = await openPage(opened.browser, server.url);
    await roof.page.goto(`${server.url}/roof`);
    const figures = [
      ...(await opening(list.page, server.url)),
      ...(await busiestWhileOpened(opened.browser, list.page, server.url)),
      ...(await scrolling(opened.browser, { list: list.page, roof: roof.page, url: server.url })),
    ];
    await list.close();
    await roof.close();
    return figures;
  } finally {
    await opened.close();
    await server.close();
  }
}

async function opening(tab: Page, url: string): Promise<readonly Figure[]> {
  const first: number[] = [];
  const graph: number[] = [];
  const grid: number[] = [];
  const list: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    first.push(await timeUntil(tab, `${url}/console/jobs`, ".row"));
    graph.push(await timeUntil(tab, `${url}/console/runs/7?view=graph`, ".group-node"));
  }
  for (let round = 0; round < rounds; round += 1) {
    grid.push(await timeUntil(tab, `${url}/console/runs/7`, ".row"));
    list.push(await timeUntil(tab, `${url}/console/schedules`, ".row .square"));
  }
  return [
    measured(`console: list of ${schedules} schedules`, "ms", list, { valueMax: 1_000 }),
    measured(`console: list of ${tasks} tasks`, "ms", grid, { valueMax: 1_000 }),
    measured("console: first rows of the list", "ms", first, { valueMax: 1_000 }),
    measured(`console: graph of ${tasks} tasks`, "ms", graph, { valueMax: 1_000 }),
  ];
}

/** The longest task of the page's thread while a screen opens and, for schedules, is scrolled to its end. */
async function busiestWhileOpened(browser: Browser, tab: Page, url: string): Promise<readonly Figure[]> {
  const opened = async (path: string, sign: string): Promise<number> =>
    await busiestTaskMs(browser, tab, () => timeUntil(tab, `${url}/console${path}`, sign));
  const figures: Figure[] = [];
  for (const [name, path, sign] of [
    [`list of ${schedules} schedules`, "/schedules", ".row .square"],
    [`list of ${tasks} tasks`, "/runs/7", ".row"],
    [`graph of ${tasks} tasks`, "/runs/7?view=graph", ".group-node"],
  ] as const) {
    const busiest: number[] = [];
    for (let round = 0; round < rounds; round += 1) busiest.push(await opened(path, sign));
    figures.push(
      measured(`console: busiest task while the ${name} opens`, "CPU ms", busiest, { valueMax: frameMsMax }),
    );
  }
  await timeUntil(tab, `${url}/console/schedules`, ".row .square");
  const scrolled = await busiestTaskMs(browser, tab, () => slowestFrame(tab, schedules * 52));
  figures.push(
    measured("console: busiest task while schedules are scrolled", "CPU ms", [scrolled], { valueMax: frameMsMax }),
  );
  return figures;
}

interface Tabs {
  readonly list: Page;
  readonly roof: Page;
  readonly url: string;
}

async function scrolling(browser: Browser, { list, roof, url }: Tabs): Promise<readonly Figure[]> {
  await timeUntil(list, `${url}/console/jobs`, ".row");
  const whileLoaded = await busiestTaskMs(browser, list, () => loadAll(list));
  const busiest: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    busiest.push(await busiestTaskMs(browser, list, () => slowestFrame(list)));
  }
  const pairs = await inTurns({ product: () => slowestFrame(list), roof: () => slowestFrame(roof) });
  return [
    measured(`console: busiest task while ${jobs} rows are loaded`, "CPU ms", [whileLoaded], { valueMax: frameMsMax }),
    measured(`console: busiest task while they are scrolled`, "CPU ms", busiest, { valueMax: frameMsMax }),
    compared("console: slowest frame while they are scrolled", "ms", pairs, { valueMax: frameMsMax }),
  ];
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
    const box = document.querySelector("main");
    while (box.scrollHeight < ${jobs * rowHeight}) { box.scrollTop = box.scrollHeight; await frame(); }
  })()`);
}

/** From the end to the top in big steps, one in each frame. @returns the longest time between two frames. */
async function slowestFrame(tab: Page, height = jobs * rowHeight): Promise<number> {
  return (await tab.evaluate(`(async () => {
    ${frame}
    const box = document.querySelector("main");
    let slowest = 0;
    let before = await frame();
    for (let step = 0; step < ${framesPerScroll}; step += 1) {
      box.scrollTop = ${height} * (1 - step / ${framesPerScroll});
      const now = await frame();
      slowest = Math.max(slowest, now - before);
      before = now;
    }
    return slowest;
  })()`)) as number;
}

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Processor time of the thread, in microseconds. */
  readonly tdur?: number;
  readonly args: { readonly name?: string };
}

/**
 * The longest task of the page's main thread while `work` goes on, in milliseconds of processor time: what a frame had to
 * wait for, whatever else the machine did. Other pages of the browser must be idle.
 */
async function busiestTaskMs(browser: Browser, tab: Page, work: () => Promise<unknown>): Promise<number> {
  await browser.startTracing(tab, { categories: ["toplevel"] });
  await work();
  const trace = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: readonly TraceEvent[] };
  const threads = new Set(
    trace.traceEvents
      .filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain")
      .map(threadOf),
  );
  const tasks = trace.traceEvents.filter((each) => isTask(each) && threads.has(threadOf(each)));
  if (tasks.length === 0) throw new Error("the browser traced no task of the page: its trace has another form now");
  return Math.max(...tasks.map(({ tdur }) => (tdur ?? 0) / 1_000));
}

const threadOf = ({ pid, tid }: TraceEvent): string => `${pid} ${tid}`;
const isTask = ({ name }: TraceEvent): boolean => name.endsWith("RunTask");
