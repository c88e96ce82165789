import { readFileSync, writeFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { until } from "../local/until.ts";
import { violations } from "./browser.ts";
import { describeOperator } from "./operator-world.ts";

const slowMs = 120_000;

/** Looks at every drawing from now on: the most rows that were ever shown beside what is wrong with a filter. */
async function markingBesideProblem(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(`
    globalThis.rowsBesideProblem = 0;
    new MutationObserver(() => {
      if (document.querySelector(".problem") === null) return;
      rowsBesideProblem = Math.max(rowsBesideProblem, document.querySelectorAll(".row").length);
    }).observe(document.body, { childList: true, subtree: true });
  `);
  return () => page.evaluate<number>("rowsBesideProblem");
}

/** What must not look as if all were well. */
await describeOperator(
  "planted faults",
  (its) => {
    const sits = async () => {
      const at = await its.sits();
      onTestFinished(() => at.page.context().close());
      return at;
    };

    test(
      "a mistyped filter matches nothing, says what is wrong, and nothing can be marked under it",
      async () => {
        await its.call("POST", "/jobs", { kind: "ping", delay: "1h" });
        const { page, ...at } = await sits();
        await at.link("Jobs");
        await page.locator(".row").first().waitFor();
        const marking = await markingBesideProblem(page);
        await page.getByRole("combobox", { name: /^Filter/ }).fill("sate:pending");
        await page.keyboard.press("Enter");
        await page.getByText("Nothing matches until the filter is corrected").waitFor();
        expect(await marking()).toBe(0);
        // Until here the list without a filter may be read again, when an event comes.
        const asked: string[] = [];
        page.on(
          "request",
          (request) => void asked.push(new URL(request.url()).pathname + new URL(request.url()).search),
        );
        expect(
          await page
            .getByText('"sate" is no field')
            .or(page.getByText(/sate.* is no field/))
            .count(),
        ).toBeGreaterThan(0);
        expect(await page.locator(".row").count()).toBe(0);
        expect(await page.getByRole("button", { name: /^Mark all/ }).count()).toBe(0);
        await page.keyboard.press("Escape");
        await page.keyboard.press("a");
        expect(await page.getByText(/are marked/).count()).toBe(0);
        await page.getByRole("combobox", { name: /^Filter/ }).fill("state:pending");
        await page.keyboard.press("Enter");
        await page.locator(".row").first().waitFor();
        const jobs = asked.filter((path) => path.startsWith("/jobs?"));
        expect(jobs.filter((path) => !path.includes("state=PENDING"))).toEqual([]);
        await at.leave();
      },
      slowMs,
    );

    test(
      "a page whose server was killed says that it may be old, keeps what it shows, and is live again with the next server",
      async () => {
        const { page, ...at } = await sits();
        await at.link("Jobs");
        await page.locator(".row").first().waitFor();
        await page.getByText("Live", { exact: true }).first().waitFor();
        const rows = await page.locator(".row").count();
        // A single one is replaced before the page has to say so: this one dies again and again.
        const killed = new Set<number>();
        await until("the banner", async () => {
          const pid = its.system.processes().find(({ name }) => name === "api")?.pid;
          if (pid !== undefined && !killed.has(pid)) process.kill(pid, "SIGKILL");
          if (pid !== undefined) killed.add(pid);
          return await page.getByText("what you see may be old").isVisible();
        });
        // A schedule may have fired in between.
        expect(await page.locator(".row").count()).toBeGreaterThanOrEqual(rows);
        await until("another server", () => {
          const next = its.system.processes().find(({ name }) => name === "api")?.pid;
          return next !== undefined && !killed.has(next);
        });
        await page.getByText("what you see may be old").waitFor({ state: "hidden" });
        await page.getByText("Live", { exact: true }).first().waitFor();
      },
      slowMs,
    );

    test(
      "a save that cannot be used is shown on the page with its file and its problem, the code before it runs on, and the repaired one ends it",
      async () => {
        const { page, ...at } = await sits();
        await page.getByText("Live", { exact: true }).first().waitFor();
        const good = readFileSync(its.app, "utf8");
        writeFileSync(its.app, good.replaceAll('timezone: "UTC"', 'timezone: "Asia/Soul"'));
        const banner = page.getByRole("alert").filter({ hasText: "Asia/Soul" });
        await banner.waitFor();
        expect(await banner.textContent()).toMatch(/app\.ts.*Asia\/Seoul/s);
        expect(await violations(page)).toEqual([]);
        await its.job({ kind: "ping" }, "SUCCESS");
        writeFileSync(its.app, good);
        await banner.waitFor({ state: "hidden" });
        await at.leave();
      },
      slowMs,
    );
  },
  { watches: true },
);
