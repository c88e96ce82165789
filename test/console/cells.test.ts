import { expect, test } from "vitest";
import { describeInBrowser } from "./in-browser.ts";
import { jobOf } from "./scene.ts";

await describeInBrowser("several cells", (its) => {
  const { open, at } = its;

  test("ids of a cell, of thirteen digits, are whole in the list", async () => {
    const { page } = await open();
    await page.setViewportSize({ width: 1280, height: 800 });
    const ids = ["1000000000065", "1000000123456"];
    await page.route("**/jobs?*", (route) =>
      route.fulfill({
        json: {
          jobs: ids.map((id) => ({ ...jobOf(1), id, kind: "send-a-long-named-mail" })),
          nextCursor: null,
          complete: true,
        },
      }),
    );
    await page.goto(at("/jobs"));
    for (const id of ids) {
      const shown = page.getByText(`#${id}`, { exact: true });
      await shown.waitFor();
      const cut = await shown.evaluate(
        (element: { getBoundingClientRect(): { right: number }; closest(of: string): unknown }) => {
          const cell = element.closest(".kind-cell") as { getBoundingClientRect(): { right: number } };
          return element.getBoundingClientRect().right - cell.getBoundingClientRect().right;
        },
      );
      expect(cut).toBeLessThanOrEqual(0);
    }
  });
});
