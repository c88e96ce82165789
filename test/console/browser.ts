import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import axe from "axe-core";
import { type Browser, type BrowserContext, chromium as playwright, type Page } from "playwright-core";
import manifest from "../../package.json" with { type: "json" };

export interface TestBrowser {
  readonly browser: Browser;
  close(): Promise<void>;
}

const launchArguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"];

type Environment = Readonly<Record<string, string>>;

/** A real Chromium, or the reason why this machine cannot run one. `env` is beside what this process has. */
export async function openBrowser(env: Environment = {}): Promise<TestBrowser | string> {
  try {
    const executablePath = process.env["CHROMIUM_PATH"] ?? (await unpacked());
    const settings = { executablePath, headless: true, args: launchArguments };
    const browser = await playwright.launch({ ...settings, env: { ...process.env, ...env } });
    return { browser, close: () => browser.close() };
  } catch (error) {
    return error instanceof Error ? (error.message.split("\n")[0] ?? error.message) : String(error);
  }
}

/** Kept beside the modules, as unpacking takes seconds. Whole from the start, because other processes look for it too. */
async function unpacked(): Promise<string> {
  const cache = join(import.meta.dirname, "../../node_modules/.cache");
  const kept = join(cache, `chromium-${manifest.devDependencies["@sparticuz/chromium"]}`);
  if (!existsSync(kept)) {
    mkdirSync(cache, { recursive: true });
    const folder = mkdtempSync(join(cache, "chromium-"));
    await chromiumIn(folder);
    try {
      renameSync(folder, kept);
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      if (!existsSync(kept)) throw error;
    }
  }
  return chromiumIn(kept);
}

/** The package unpacks into the folder for temporary files, and what is there already it uses. */
async function chromiumIn(folder: string): Promise<string> {
  const before = process.env["TMPDIR"];
  process.env["TMPDIR"] = folder;
  try {
    const { default: chromium } = await import("@sparticuz/chromium");
    return await chromium.executablePath();
  } finally {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
  }
}

interface PageOptions {
  readonly colorScheme?: "light" | "dark";
  readonly timezoneId?: string;
  /** null for the browser's own. */
  readonly locale?: string | null;
}

/** A page that notes what must not happen: errors on the console, and requests to anywhere else. */
export async function openPage(browser: Browser, url: string, { locale = "en-US", ...options }: PageOptions = {}) {
  const context: BrowserContext = await browser.newContext({
    viewport: { width: 1360, height: 860 },
    timezoneId: "Asia/Seoul",
    ...(locale === null ? {} : { locale }),
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
