import { afterAll, beforeAll, expect, test } from "vitest";
import { violations } from "./browser.ts";
import { describeInBrowser } from "./in-browser.ts";
import { hostileText, type Mode } from "./served-console.ts";
import { screens, sign } from "./screens.ts";

await describeInBrowser("the screens", (its) => {
  const visit = async (mode: Mode) => {
    its.api.mode = mode;
    const shown = await its.open();
    return { ...shown, go: (path: string) => shown.page.goto(its.at(path)) };
  };

  let shown: Awaited<ReturnType<typeof its.open>>;
  beforeAll(async () => {
    shown = await its.openKept();
  });
  afterAll(() => shown.close());

  test.each(screens)("$path has no violation, no error, and asks nothing elsewhere", async ({ path, loaded }) => {
    its.api.mode = "loaded";
    await shown.page.goto(its.at(path));
    await sign(shown.page, "loaded", loaded).first().waitFor();
    expect(await violations(shown.page)).toEqual([]);
    expect(shown.problems).toEqual([]);
  });

  test("hostile text in every field is shown and does nothing", async () => {
    const { page, problems, go } = await visit("hostile");
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
  });

  test("a failed request can be asked again, and the screen recovers", async () => {
    const { page, go } = await visit("error");
    await go("/dead-letters");
    await page.getByRole("alert").waitFor();
    its.api.mode = "loaded";
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("HTTP_503").first().waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
  });
});
