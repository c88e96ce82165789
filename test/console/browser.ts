import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import axe from "axe-core";
import { type Browser, type BrowserContext, chromium as playwright, type Page } from "playwright-core";

export interface TestBrowser {
  readonly browser: Browser;
  close(): Promise<void>;
}

const launchArguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"];

/** A real Chromium, or the reason why this machine cannot run one. It is unpacked into a folder of its own. */
export async function openBrowser(): Promise<TestBrowser | string> {
  const folder = mkdtempSync(join(tmpdir(), "belfry-browser-"));
  const before = process.env["TMPDIR"];
  process.env["TMPDIR"] = folder;
  try {
    const { default: chromium } = await import("@sparticuz/chromium");
    const executablePath = process.env["CHROMIUM_PATH"] ?? (await chromium.executablePath());
    const browser = await playwright.launch({ executablePath, headless: true, args: launchArguments });
    return {
      browser,
      async close() {
        await browser.close();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    return error instanceof Error ? (error.message.split("\n")[0] ?? error.message) : String(error);
  } finally {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
  }
}

/** A page that notes what must not happen: errors on the console, and requests to anywhere else. */
export async function openPage(
  browser: Browser,
  url: string,
  options: { readonly colorScheme?: "light" | "dark"; readonly timezoneId?: string; readonly locale?: string } = {},
) {
  const context: BrowserContext = await browser.newContext({
    viewport: { width: 1360, height: 860 },
    timezoneId: "Asia/Seoul",
    locale: "en-US",
    ...options,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const problems: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" && !/Failed to load resource|net::ERR/.test(message.text()))
      problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("request", (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith("data:"))
      problems.push(`request to ${request.url()}`);
  });
  return { page, problems, close: () => context.close() };
}

const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/** What axe finds wrong, in words. The page's policy forbids foreign scripts: the debugger puts this one in. */
export async function violations(page: Page, only: readonly string[] = tags): Promise<readonly string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source);
  const found = (await page.evaluate(
    `axe.run(document, { runOnly: ${JSON.stringify(only)} }).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html, failureSummary }) => html.slice(0, 160) + " " + failureSummary).join(" | ")))`,
  )) as readonly string[];
  return found;
}
