import type { Page } from "playwright-core";

/** What a person does who has never seen the page. Only what is seen is clicked: no address is typed after the first. */
export async function walk(page: Page, url: string, shot: (name: string) => Promise<unknown>): Promise<void> {
  await page.goto(`${url}/console/`);
  const matter = page.getByRole("link", { name: /\d dead letters?$/ });
  await matter.waitFor({ timeout: 120_000 });
  await shot("1-overview");
  await matter.click();
  const group = page.getByRole("row").filter({ hasText: "taskflow-job" }).first();
  await group.waitFor();
  await shot("2-dead-letters");
  await group.getByRole("link", { name: "taskflow-job" }).click();
  const row = page.locator(".row .row-link").first();
  await row.waitFor();
  await shot("3-jobs");
  await row.click();
  await page.getByRole("region", { name: "Latest error" }).waitFor();
  await shot("4-job");
  await page.getByRole("button", { name: "Retry" }).click();
  await page.getByText(/: retried$/).waitFor();
  await shot("5-retried");
}
