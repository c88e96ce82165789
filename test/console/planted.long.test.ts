import { readFileSync, writeFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { until } from "../local/until.ts";
import { violations } from "./browser.ts";
import { describeOperator } from "./operator-world.ts";

const slowMs = 120_000;

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
      "a page whose server was killed says that it may be old, keeps what it shows, and is live again with the next server",
      async () => {
        await its.call("POST", "/jobs", { kind: "ping", delay: "1h" });
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
