/**
 * `node scripts/console-pictures.ts [--out FOLDER] [--seconds N]`: runs `npm start -- --examples` on fresh state, gives it work of all
 * kinds, walks through the console as a newcomer does, and photographs the terminal and every screen in
 * both themes and in a narrow window. Without --out only the README's pictures are kept, in docs/pictures. Exits 1 when
 * the walk took three minutes or more, when the page reported an error, or when a picture of the README is too large.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Browser, Page } from "playwright-core";
import { openBrowser, openPage } from "../test/console/browser.ts";
import { npmStart, type Started } from "./pictures/npm-start.ts";
import { screens } from "./pictures/screens.ts";
import { terminalPicture } from "./pictures/terminal.ts";
import { walk } from "./pictures/walk.ts";

const walkMsMax = 180_000;
const firstJobMsMax = 150_000;
const bytesMax = 250_000;
const ofReadme = new Set(["overview", "jobs", "job", "run", "schedules", "npm-start"]);
const looks = [
  { name: "light", colorScheme: "light", width: 1_360 },
  { name: "dark", colorScheme: "dark", width: 1_360 },
  { name: "narrow", colorScheme: "light", width: 600 },
] as const;

const { values } = parseArgs({ options: { out: { type: "string" }, seconds: { type: "string" } } });
const out = values.out ?? fileURLToPath(new URL("../docs/pictures/", import.meta.url));
const settleSeconds = Number(values.seconds ?? 60);
const problems: string[] = [];

process.exitCode = await main();

async function main(): Promise<number> {
  const opened = await openBrowser();
  if (typeof opened === "string") {
    console.error(`no browser runs here: ${opened}`);
    return 1;
  }
  mkdirSync(out, { recursive: true });
  const begin = performance.now();
  const started = await npmStart();
  try {
    await photographAll(opened.browser, started, begin);
  } finally {
    await opened.close();
    await started.stop();
  }
  problems.forEach((problem) => console.error(problem));
  return problems.length === 0 ? 0 : 1;
}

async function photographAll(browser: Browser, started: Started, begin: number): Promise<void> {
  const seconds = (): string => `${((performance.now() - begin) / 1_000).toFixed(1)} s`;
  console.log(`${seconds()}  npm start printed its address`);
  await firstJobEnded(started);
  for (const theme of ["light", "dark"] as const) {
    await terminalPicture(browser, started.screen(), { theme, path: kept("npm-start", theme) ?? "" });
  }
  await giveWork(started.url);
  const pages = await Promise.all(
    looks.map(async (look) => ({ look, ...(await openPage(browser, started.url, look)) })),
  );
  for (const { look, page } of pages) {
    await page.setViewportSize({ width: look.width, height: 860 });
    await walk(page, started.url, (name) => shot(page, `walk-${name}`, look.name));
    console.log(`${seconds()}  a failed job was found, understood and retried (${look.name})`);
    if (look.name === "light" && performance.now() - begin > walkMsMax) problems.push(`the walk took ${seconds()}`);
  }
  await wait(settleSeconds * 1_000);
  for (const { look, page, problems: found } of pages) {
    await screens(page, started.url, (name) => shot(page, name, look.name));
    problems.push(...found);
  }
}

/** The first minute in the terminal: the example's job came from its schedule and ended. */
async function firstJobEnded({ screen }: Started): Promise<void> {
  const endsAt = performance.now() + firstJobMsMax;
  while (!/kind=hello\b.*state=SUCCESS|last: hello \d+ SUCCESS/.test(screen())) {
    if (performance.now() > endsAt) throw new Error(`no job of the example ended:\n${screen()}`);
    await wait(200);
  }
}

/** Jobs that succeed, fail for a while, fail for good, hang and die; runs of graphs and a fan-out. */
async function giveWork(url: string): Promise<void> {
  const amounts = { succeed: 40, flaky: 8, rejected: 6, hang: 1, die: 1 };
  for (const [type, amount] of Object.entries(amounts)) {
    for (let index = 0; index < amount; index += 1) {
      await post(`${url}/jobs`, { kind: "taskflow-job", payload: { type, report: `${type}-${index}` } });
    }
  }
  for (const schedule of ["settle-shops", "nightly-workflows", "daily-quiz-seoul"]) {
    await post(`${url}/schedules/${schedule}/trigger`, {});
  }
}

async function post(url: string, body: object): Promise<void> {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`);
}

async function shot(page: Page, name: string, look: string): Promise<void> {
  const path = kept(name, look);
  if (path === null) return;
  const bytes = await page.screenshot({ path });
  if (bytes.byteLength > bytesMax) problems.push(`${path} has ${bytes.byteLength} bytes, more than ${bytesMax}`);
}

/** Where a picture goes; null for one that only --out keeps. */
function kept(name: string, look: string): string | null {
  const isKept = values.out !== undefined || (ofReadme.has(name) && look !== "narrow");
  return isKept ? join(out, `${name}-${look}.png`) : null;
}
