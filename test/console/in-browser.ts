import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, onTestFinished } from "vitest";
import { bundleConsole } from "../../src/compose/bundle-console.ts";
import { openBrowser, openPage, type TestBrowser } from "./browser.ts";
import { serveConsole, type ServedConsole } from "./served-console.ts";

/** Made once a worker: all of its files show the same page. */
let files: ReturnType<typeof bundleConsole> | undefined;

type Shown = Awaited<ReturnType<typeof openPage>>;
type Options = Parameters<typeof openPage>[2];

/** A real Chromium with the console's page before the API on a database with rows. */
export interface ConsoleInBrowser {
  /** There once the first test runs. */
  readonly api: ServedConsole;
  /** A page for several tests. Close it. */
  openKept(options?: Options): Promise<Shown>;
  /** A page that shows nothing yet. It closes with its test. */
  open(options?: Options): Promise<Shown>;
  /** A page that shows the screen at `path`, once `ready` can be read on it. */
  visit(path: string, ready?: string, options?: Options): Promise<Shown>;
  /** The address of a screen. */
  at(path: string): string;
}

/** Tests that need a browser; on a machine that cannot run one they are skipped, and the reason is printed. */
export async function describeInBrowser(
  name: string,
  tests: (its: ConsoleInBrowser) => void,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const opened = await openBrowser(env);
  if (typeof opened === "string") console.warn(`skipped, no browser runs here: ${opened}`);
  describe.skipIf(typeof opened === "string")(`in a browser: ${name}`, () => {
    const { browser, close } = opened as TestBrowser;
    let api: ServedConsole;
    beforeAll(async () => {
      api = await serveConsole(await (files ??= bundleConsole()));
    });
    afterAll(async () => {
      await close();
      await api.stop();
    });
    const at = (path: string): string => `${api.url}/console${path}`;
    const openKept = (options?: Options): Promise<Shown> => openPage(browser, api.url, options);
    const open = async (options?: Options): Promise<Shown> => {
      const shown = await openKept(options);
      onTestFinished(shown.close);
      return shown;
    };
    tests({
      get api() {
        return api;
      },
      at,
      openKept,
      open,
      async visit(path, ready, options) {
        const shown = await open(options);
        await shown.page.goto(at(path));
        if (ready !== undefined) await shown.page.getByText(ready).first().waitFor();
        return shown;
      },
    });
  });
}

/** What was asked to be changed, in order. */
export const posts = ({ requests }: ServedConsole): readonly string[] =>
  requests.filter((each) => each.startsWith("POST"));

const stopsMax = 120;

/** Tab until the button or link of this name has the focus. @throws when the keyboard does not reach it. */
export async function tabTo(page: Page, name: string): Promise<void> {
  for (let stops = 0; stops < stopsMax; stops += 1) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(
      "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent.trim()",
    );
    if (at === name) return;
  }
  throw new Error(`Tab does not reach "${name}"`);
}
