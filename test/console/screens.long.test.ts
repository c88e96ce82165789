import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { violations } from "./browser.ts";
import { describeInBrowser } from "./in-browser.ts";
import { screens, sign } from "./screens.ts";

const koreanScreens = screens.flatMap(({ path, korean }) => (korean === null ? [] : [{ path, text: korean }]));

/** What reaches over its cell's edge: text that ends in an ellipsis may, a mark or a button may not. */
const crossing = `[...document.querySelectorAll("td, th")].filter((cell) => cell.offsetWidth > 1).flatMap((cell) =>
  [...cell.querySelectorAll("*")].filter((each) => {
    const [own, box] = [each.getBoundingClientRect(), cell.getBoundingClientRect()];
    if (own.width <= 1 || (own.right <= box.right + 0.5 && own.left >= box.left - 0.5)) return false;
    if (each.closest(".hidden") !== null) return false;
    if (each.matches("button, i, svg, input, meter")) return true;
    for (let at = each; at !== cell.parentElement; at = at.parentElement) {
      if (["ellipsis"].includes(getComputedStyle(at).textOverflow) || at.matches(".clamp, .cut")) return false;
    }
    return true;
  }).map((each) => cell.className + " > " + each.outerHTML.slice(0, 80)))`;

await describeInBrowser("the screens in each state, size and language", (its) => {
  describe.each([
    // Of what axe looks at, only contrast depends on the theme.
    { mode: "loaded", scheme: "dark", rules: ["color-contrast"] },
    { mode: "empty", scheme: "dark", rules: undefined },
    { mode: "error", scheme: "light", rules: undefined },
  ] as const)("$mode, $scheme", ({ mode, scheme, rules }) => {
    let shown: Awaited<ReturnType<typeof its.open>>;
    beforeAll(async () => {
      shown = await its.openKept({ colorScheme: scheme });
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

  test.each(screens)(
    "$path fits a window of 390 to 1920 pixels: rows stack, or wide tables scroll in their card; no mark, button or word crosses its cell",
    async ({ path, loaded }) => {
      its.api.mode = "loaded";
      const { page } = await its.open();
      await page.setViewportSize({ width: 390, height: 860 });
      await page.goto(its.at(path));
      await page.getByText(loaded).first().waitFor({ state: "attached" });
      for (const width of [390, 600, 1_024, 1_280, 1_440, 1_920]) {
        await page.setViewportSize({ width, height: 860 });
        // What follows the window's size has done so by the second frame.
        await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
        const beyond = await page.evaluate(
          "[document.documentElement, document.querySelector('main')].map((box) => box.scrollWidth - box.clientWidth)",
        );
        expect({ width, beyond }).toEqual({ width, beyond: [0, 0] });
        expect({ width, crossing: await page.evaluate(crossing) }).toEqual({ width, crossing: [] });
        const isStacked = width <= 600;
        const hidden = await page.evaluate(
          "[...document.querySelectorAll('.card:has(.stacks)')].filter((card) => card.scrollWidth > card.clientWidth).length",
        );
        expect({ width, hidden: isStacked ? hidden : 0 }).toEqual({ width, hidden: 0 });
        expect(await violations(page, ["color-contrast", "scrollable-region-focusable", "target-size"])).toEqual([]);
      }
    },
  );

  test.each(koreanScreens)(
    "$path is Korean in a Korean browser, also for those who hear it",
    async ({ path, text }) => {
      const { page, problems } = await its.visit(path, text, { locale: "ko-KR" });
      expect(await page.locator("html").getAttribute("lang")).toBe("ko");
      expect(await page.getByRole("navigation").innerText()).not.toMatch(/Overview|Schedules|Dead letters/);
      expect(await page.title()).toMatch(/ · Belfry$/);
      expect(await violations(page)).toEqual([]);
      expect(problems).toEqual([]);
    },
  );
});
