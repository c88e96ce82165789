import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeInBrowser, tabTo } from "./in-browser.ts";
import { insert, jobRow, planting } from "./planted-console.ts";

/** Whether the focus is visible while the Tab key moves it; the filter's frame is drawn by what is around the field. */
const focusSeen = `(() => {
  const { activeElement } = document;
  const frame = activeElement.closest(".filter");
  const { outlineStyle, outlineWidth } = getComputedStyle(activeElement);
  const isSeen = (outlineStyle !== "none" && parseFloat(outlineWidth) >= 2) ||
    (frame !== null && getComputedStyle(frame).outlineStyle !== "none");
  return activeElement === document.body || isSeen ? "seen" : activeElement.outerHTML.slice(0, 120);
})()`;

const focusedText = (page: Page): Promise<unknown> => page.evaluate("document.activeElement.textContent.trim()");

await describeInBrowser("what holds on every screen", (its) => {
  test.each(["Escape", "Don’t change anything", "Close"])(
    "a question closed by %s gives the focus back",
    async (by) => {
      const { page } = await its.visit("/jobs/2", "Running for");
      await tabTo(page, "Cancel");
      await page.keyboard.press("Enter");
      await page.getByRole("dialog").waitFor();
      if (by === "Escape") await page.keyboard.press("Escape");
      else {
        await tabTo(page, by);
        await page.keyboard.press("Enter");
      }
      await page.getByRole("dialog").waitFor({ state: "detached" });
      expect(await focusedText(page)).toBe("Cancel");
    },
  );

  test.each(["/", "/jobs", "/jobs/2", "/schedules/nightly-export", "/runs/7?view=graph", "/lanes"])(
    "on %s the focus is seen wherever Tab takes it",
    async (path) => {
      const { page } = await its.visit(path, "Live");
      await page.locator("main a, main button").first().waitFor();
      for (let stop = 0; stop < 40; stop += 1) {
        await page.keyboard.press("Tab");
        expect(await page.evaluate(focusSeen)).toBe("seen");
      }
    },
  );

  test("what a change led to is one click away", async () => {
    const { page } = await its.visit("/schedules/nightly-export", "Next times");
    await page.getByRole("button", { name: "Run now" }).click();
    await page.getByRole("status").getByRole("link", { name: "Show the job" }).click();
    await page.getByRole("heading", { level: 1, name: /#1\d{3}$/ }).waitFor();
    expect(new URL(page.url()).pathname).toMatch(/^\/console\/jobs\/1\d{3}$/);
  });

  test("the policy of the page stops scripts and styles that are written into it, and requests to elsewhere", async () => {
    const { page } = await its.visit("/", "Last failures");
    const stopped = await page.evaluate(`(async () => {
      const stopped = [];
      document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => stopped.push(effectiveDirective));
      const add = (name, text) => document.body.append(Object.assign(document.createElement(name), { textContent: text }));
      add("script", "window.hit = 1");
      add("style", "body { display: none }");
      await fetch("http://example.invalid/").catch(() => {});
      for (let frame = 0; frame < 100 && stopped.length < 3; frame += 1) await new Promise(requestAnimationFrame);
      return { hit: window.hit ?? null, display: getComputedStyle(document.body).display, stopped };
    })()`);
    expect(stopped).toEqual({
      hit: null,
      display: "block",
      stopped: ["script-src-elem", "style-src-elem", "connect-src"],
    });
  });

  test("each state's tab shows how many match the rest of the filter", async () => {
    await planting(its.api, async (client) => {
      await insert(
        client,
        "job",
        Array.from({ length: 1_000 }, (_, n) => jobRow(2_000 + n, "SUCCESS")),
      );
    });
    const { page } = await its.open();
    const asked = page.waitForRequest(/\/jobs\/counts\?lane=mail$/);
    await page.goto(its.at("/jobs?q=lane%3Amail%20state%3Afailed"));
    await asked;
    await page.getByRole("button", { name: "Success 1,000+", exact: true }).waitFor();
    const chosen = page.getByRole("group", { name: "State" }).getByRole("button", { pressed: true });
    expect(await chosen.textContent()).toMatch(/^Failed\s*42$/);
    await page.getByRole("button", { name: "Mark all 42 matching" }).click();
    await page.getByText("All 42 that match are marked").waitFor();
  });
});
