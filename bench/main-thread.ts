import type { Browser, Page } from "playwright-core";

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
export async function busiestTaskMs(browser: Browser, tab: Page, work: () => Promise<unknown>): Promise<number> {
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
