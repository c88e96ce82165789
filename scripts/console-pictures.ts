/**
 * `node scripts/console-pictures.ts [--out FOLDER] [--seconds N]`: starts the whole system on fresh state, gives it work of
 * all kinds, walks through the console as somebody who has never seen it, and photographs every screen in both themes.
 * The READMEs show what it leaves in docs/pictures. Exits 1 when the walk took three minutes or more.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Page } from "playwright-core";
import { type LocalSystem, startLocal } from "../src/local/system.ts";
import { openBrowser, openPage } from "../test/console/browser.ts";

const walkSecondsMax = 180;
const { values } = parseArgs({ options: { out: { type: "string" }, seconds: { type: "string" } } });
const out = values.out ?? fileURLToPath(new URL("../docs/pictures/", import.meta.url));
const settleSeconds = Number(values.seconds ?? 60);

process.exitCode = await main();

async function main(): Promise<number> {
  const opened = await openBrowser();
  if (typeof opened === "string") {
    console.error(`no browser runs here: ${opened}`);
    return 1;
  }
  mkdirSync(out, { recursive: true });
  const home = mkdtempSync(join(tmpdir(), "belfry-pictures-"));
  const begin = performance.now();
  const elapsed = (): number => (performance.now() - begin) / 1_000;
  const system = await startLocal({ home, stage: "demo", without: ["watch"] });
  const url = system.urls.api ?? "";
  try {
    console.log(`${elapsed().toFixed(1)} s  the system runs`);
    await giveWork(url);
    const light = await openPage(opened.browser, url, { colorScheme: "light" });
    const walked = await walk(light.page, url, elapsed);
    console.log(`${walked.toFixed(1)} s  a failed job was found, understood and retried`);
    await wait(settleSeconds * 1_000);
    await photograph(light.page, url, "light");
    const dark = await openPage(opened.browser, url, { colorScheme: "dark" });
    await photograph(dark.page, url, "dark");
    for (const problem of [...light.problems, ...dark.problems]) console.error(problem);
    return walked < walkSecondsMax && light.problems.length + dark.problems.length === 0 ? 0 : 1;
  } finally {
    await opened.close();
    await system.stop();
    removeData(system, home);
  }
}

function removeData({ postgres }: LocalSystem, home: string): void {
  if (postgres !== null) rmSync(postgres.dataFolder, { recursive: true, force: true });
  rmSync(home, { recursive: true, force: true });
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

/** Only what is seen on the screen is clicked: no address is typed after the first. @returns the seconds it took. */
async function walk(page: Page, url: string, elapsed: () => number): Promise<number> {
  let step = 0;
  const shot = (name: string) => page.screenshot({ path: join(out, `walk-${(step += 1)}-${name}.png`) });
  await page.goto(`${url}/console/`);
  await page.getByText(/\d dead letters?$/).waitFor({ timeout: 120_000 });
  await shot("overview");
  await page.getByText(/\d dead letters?$/).click();
  const group = page.getByRole("row").filter({ hasText: "taskflow-job" }).first();
  await group.waitFor();
  await shot("dead-letters");
  await group.getByRole("link", { name: "taskflow-job" }).click();
  const row = page.locator(".row .row-link").first();
  await row.waitFor();
  await shot("jobs");
  await row.click();
  await page.getByRole("region", { name: "Latest error" }).waitFor();
  await shot("job");
  await page.getByRole("button", { name: "Retry" }).click();
  await page.getByText(/: retried$/).waitFor();
  await shot("retried");
  return elapsed();
}

async function photograph(page: Page, url: string, theme: string): Promise<void> {
  const take = async (name: string, path: string): Promise<void> => {
    await page.goto(`${url}/console${path}`);
    await page.locator("h1").waitFor();
    // Charts, words and events come a moment after the screen.
    await wait(4_000);
    await page.screenshot({ path: join(out, `${name}-${theme}.png`) });
  };
  await take("overview", "/");
  await take("jobs", "/jobs?q=kind%3Ataskflow-job");
  await take("schedules", "/schedules");
  await take("schedule", "/schedules/outbox-retry");
  await take("runs", "/runs");
  await take("dead-letters", "/dead-letters");
  await take("lanes", "/lanes");
  await take("locks", "/locks");
  const flaky = await read<{ jobs: { id: string }[] }>(`${url}/jobs?payload.type=flaky&limit=1`);
  await take("job", `/jobs/${flaky.jobs[0]?.id ?? ""}`);
  const runs = await read<{ runs: { id: string }[] }>(`${url}/runs?kind=workflow&state=FAILED&limit=1`);
  const run = runs.runs[0]?.id ?? "";
  await take("run", `/runs/${run}`);
  await take("graph", `/runs/${run}?view=graph`);
}

async function read<T>(url: string): Promise<T> {
  return (await (await fetch(url)).json()) as T;
}
