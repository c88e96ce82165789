import { expect, test } from "vitest";
import { describeInBrowser } from "./in-browser.ts";
import { insert, jobRow, planting } from "./planted-console.ts";

await describeInBrowser("several cells", (its) => {
  const { open, at } = its;

  test("ids of a cell, of thirteen digits, are whole in the list", async () => {
    const { page } = await open();
    await page.setViewportSize({ width: 1280, height: 800 });
    const ids = [1_000_000_000_065, 1_000_000_123_456];
    await planting(its.api, async (client) => {
      await insert(
        client,
        "job",
        ids.map((id) => jobRow(id, "FAILED", { kind: "send-a-long-named-mail" })),
      );
    });
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
