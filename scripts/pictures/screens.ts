import { setTimeout as wait } from "node:timers/promises";
import type { Page } from "playwright-core";

/** Charts, words and events come a moment after the screen. */
const settleMs = 3_000;

/** Every screen, once. */
export async function screens(page: Page, url: string, shot: (name: string) => Promise<unknown>): Promise<void> {
  const take = async (name: string, path: string): Promise<void> => {
    await page.goto(`${url}/console${path}`);
    await page.locator("h1").waitFor();
    await wait(settleMs);
    await shot(name);
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
