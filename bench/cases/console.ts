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
  const chromium = await openBrowser();
  if (typeof chromium === "string") throw new Error(`no browser runs here: ${chromium}`);
  const server = await serveConsole();
  try {
    const list = await openPage(chromium.browser, server.url);
    const roof = await openPage(chromium.browser, server.url);
    await roof.page.goto(`${server.url}/roof`);
    const figures = [
      ...(await opening(list.page, server.url)),
      ...(await busiestWhileOpened(chromium.browser, list.page, server.url)),
      ...(await scrolling(chromium.browser, { list: list.page, roof: roof.page, url: server.url })),
    ];
    await list.close();
    await roof.close();
    return figures;
  } finally {
    await chromium.close();
    await server.close();
  }
}

const opened = [
  { what: `list of ${schedules} schedules`, path: "/schedules", sign: ".row .square" },
  { what: `list of ${tasks} tasks`, path: "/runs/7", sign: ".row" },
  { what: `graph of ${tasks} tasks`, path: "/runs/7?view=graph", sign: ".group-node" },
] as const;
const jobsList = { what: "list of jobs", path: "/jobs", sign: ".row" } as const;

async function opening(tab: Page, url: string): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const { what, path, sign } of [...opened, jobsList]) {
    const took: number[] = [];
    for (let round = 0; round < rounds; round += 1) took.push(await timeUntil(tab, `${url}/console${path}`, sign));
    figures.push(measured(`console: first of the ${what}`, "ms", took, { valueMax: 1_000 }));
  }
  return figures;
}

/** The longest task of the page's thread while a screen opens and, for schedules, is scrolled to its end. */
async function busiestWhileOpened(browser: Browser, tab: Page, url: string): Promise<readonly Figure[]> {
  const busy = (name: string, ms: readonly number[]): Figure =>
    measured(`console: busiest task while ${name}`, "CPU ms", ms, { valueMax: frameMsMax });
  const figures: Figure[] = [];
  for (const { what, path, sign } of opened) {
    const open = (): Promise<unknown> => timeUntil(tab, `${url}/console${path}`, sign);
    const busiest: number[] = [];
    for (let round = 0; round < rounds; round += 1) busiest.push(await busiestTaskMs(browser, tab, open));
    figures.push(busy(`the ${what} opens`, busiest));
  }
  await timeUntil(tab, `${url}/console/schedules`, ".row .square");
  const scrolled = await busiestTaskMs(browser, tab, () => slowestFrame(tab, schedules * 52));
  return [...figures, busy("schedules are scrolled", [scrolled])];
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
