import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { violations } from "./browser.ts";
import { describeInBrowser } from "./in-browser.ts";
import { hostileText, type Mode } from "./fake-api.ts";

const screens = [
  { path: "/", loaded: "Throughput" },
  { path: "/jobs", loaded: "send-open-mail" },
  { path: "/jobs/1", loaded: "Events" },
  { path: "/jobs/2", loaded: "last heartbeat" },
  { path: "/jobs/3", loaded: "waits for a slot" },
  { path: "/schedules", loaded: "nightly-export" },
  { path: "/schedules/nightly-export", loaded: "Next times" },
  { path: "/upcoming", loaded: "The one before has not ended" },
  { path: "/kinds", loaded: "Slowest first" },
  { path: "/runs", loaded: "settlement" },
  { path: "/runs/7", loaded: "Retry from failed" },
  { path: "/runs/7?view=graph", loaded: "refunds" },
  { path: "/dead-letters", loaded: "HTTP_503" },
  { path: "/lanes", loaded: "worker-0" },
  { path: "/locks", loaded: "scheduler" },
] as const;

/** What tells that the screen has drawn what it was answered. */
function sign(page: Page, mode: Mode, loaded: string): Locator {
  if (mode === "loaded") return page.getByText(loaded);
  return mode === "error" ? page.getByRole("alert") : page.locator(".empty, .card-empty, .table");
}

await describeInBrowser("the screens", (its) => {
  const visit = async (mode: Mode) => {
    its.api.mode = mode;
    const shown = await its.open();
    return { ...shown, go: (path: string) => shown.page.goto(its.at(path)) };
  };

  describe.each([
    // Of what axe looks at, only contrast depends on the theme.
    { mode: "loaded", scheme: "light", rules: undefined },
    { mode: "loaded", scheme: "dark", rules: ["color-contrast"] },
    { mode: "empty", scheme: "dark", rules: undefined },
    { mode: "error", scheme: "light", rules: undefined },
  ] as const)("$mode, $scheme", ({ mode, scheme, rules }) => {
    let shown: Awaited<ReturnType<typeof its.open>>;
    beforeAll(async () => {
      shown = await its.open({ colorScheme: scheme });
    });
    afterAll(() => shown.close());

    const wanted = screens.filter(({ path }) => mode !== "empty" || !/\/\d|nightly/.test(path));
    test.each(wanted)("$path has no violation, no error, and asks nothing elsewhere", async ({ path, loaded }) => {
      its.api.mode = mode;
      await shown.page.goto(its.at(path));
      await sign(shown.page, mode, loaded).first().waitFor();
      expect(await violations(shown.page, rules)).toEqual([]);
      expect(shown.problems).toEqual([]);
    });
  });

  test("hostile text in every field is shown and does nothing", async () => {
    const { page, problems, close: leave, go } = await visit("hostile");
    for (const { path } of screens) {
      await go(path);
      await page.getByText(hostileText.slice(0, 30)).first().waitFor({ state: "attached", timeout: 30_000 });
      const harm = {
        ran: await page.evaluate("window.hit ?? null"),
        elements: await page.locator("main img, main script").count(),
        links: await page.locator('a[href^="javascript"]').count(),
      };
      expect({ path, ...harm }).toEqual({ path, ran: null, elements: 0, links: 0 });
    }
    expect(problems).toEqual([]);
    await leave();
  });

  test.each(screens)(
    "$path fits a window of 390 to 1440 pixels: rows stack, or wide tables scroll in their card",
    async ({ path, loaded }) => {
      const { page, close: leave, go } = await visit("loaded");
      await page.setViewportSize({ width: 390, height: 860 });
      await go(path);
      await page.getByText(loaded).first().waitFor({ state: "attached" });
      for (const width of [390, 600, 1_024, 1_440]) {
        await page.setViewportSize({ width, height: 860 });
        // What follows the window's size has done so by the second frame.
        await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
        const beyond = await page.evaluate(
          "[document.documentElement, document.querySelector('main')].map((box) => box.scrollWidth - box.clientWidth)",
        );
        expect({ width, beyond }).toEqual({ width, beyond: [0, 0] });
        const isStacked = width <= 600;
        const hidden = await page.evaluate(
          "[...document.querySelectorAll('.card:has(.stacks)')].filter((card) => card.scrollWidth > card.clientWidth).length",
        );
        expect({ width, hidden: isStacked ? hidden : 0 }).toEqual({ width, hidden: 0 });
        expect(await violations(page, ["color-contrast", "scrollable-region-focusable", "target-size"])).toEqual([]);
      }
      await leave();
    },
  );

  test("a failed request can be asked again, and the screen recovers", async () => {
    const { page, close: leave, go } = await visit("error");
    await go("/dead-letters");
    await page.getByRole("alert").waitFor();
    its.api.mode = "loaded";
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("HTTP_503").first().waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    await leave();
  });
});
