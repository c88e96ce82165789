import { expect, onTestFinished, test } from "vitest";
import { clicksMax, describeOperator, type Operator, type OperatorWorld } from "./operator-world.ts";
import { past } from "./past.ts";
import { until } from "../local/until.ts";

const slowMs = 120_000;

/** What an operator does, from the overview on. The table of docs/console.md has the same clicks. */
await describeOperator("ten jobs of an operator", (its) => {
  const job = (name: string, clicks: number, work: (at: Operator) => Promise<void>): void =>
    test(
      `${name}, in ${clicks} clicks`,
      async () => {
        const at = await its.sits();
        onTestFinished(() => at.page.context().close());
        await work(at);
        expect(clicks).toBeLessThanOrEqual(clicksMax);
        expect(at.clicks()).toBe(clicks);
        await at.leave();
      },
      slowMs,
    );

  nights(its, job);
  failures(its, job);
  changes(its, job);
});

type Job = (name: string, clicks: number, work: (at: Operator) => Promise<void>) => void;

function nights(its: OperatorWorld, job: Job): void {
  const lastNight = (at: Operator) => at.page.getByRole("table", { name: "Past times" });

  job("why did last night's not run: it was skipped", 2, async (at) => {
    await past(its.pool, "nightly-sync", ["SUCCESS", "SUCCESS", "SKIPPED"]);
    await at.link("Schedules");
    await at.link("nightly-sync");
    const row = lastNight(at).getByRole("row").nth(1);
    await expect.poll(() => row.textContent()).toMatch(/Skipped.*another job of its schedule was still going/s);
  });

  job("why did last night's not run: it was never planned", 3, async (at) => {
    await its.call("POST", "/schedules", { id: "nightly-new", kind: "ping", cron: "0 3 1 1 *", timezone: "UTC" });
    await at.link("Schedules");
    await at.link("nightly-new");
    const night = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    await at.page.getByLabel(/at this time in UTC/).fill(`${night}T03:00`);
    await at.button("Explain");
    await at.page.getByText(/did not run: the schedule did not exist yet/).waitFor();
  });

  job("why did last night's not run: it ran and failed", 1, async (at) => {
    await past(its.pool, "nightly-import", ["SUCCESS", "FAILED"]);
    await at.page.reload();
    await at.link("Schedule nightly-import failed its last run");
    const row = lastNight(at).getByRole("row").nth(1);
    await expect.poll(() => row.textContent()).toMatch(/Fired.*Failed.*BROKEN.*no disk/s);
  });

  job("which schedules are failing", 1, async (at) => {
    await its.call("POST", "/schedules", { id: "second-failing", kind: "ping", cron: "0 3 1 1 *", timezone: "UTC" });
    await past(its.pool, "second-failing", ["FAILED"]);
    await at.page.reload();
    await at.link("2 schedules whose last run failed");
    for (const id of ["nightly-import", "second-failing"]) await at.page.getByRole("link", { name: id }).waitFor();
    expect(await at.page.getByRole("link", { name: "nightly-sync" }).count()).toBe(0);
  });

  job("what runs in the next hour", 1, async (at) => {
    await at.link("Upcoming");
    await at.page.getByRole("link", { name: "sweep-often" }).nth(4).waitFor();
    expect(await at.page.getByRole("link", { name: "sweep-often" }).count()).toBeGreaterThanOrEqual(5);
  });

  job("the slowest kind of this week against last", 1, async (at) => {
    await plantHours(its);
    await at.link("Kinds");
    const first = at.page.getByRole("row").nth(1);
    await expect.poll(() => first.textContent()).toMatch(/ping.*\+700 %/s);
  });
}

/** As the roll-up counts: attempts of 8 s this week, and of 1 s in the week before. */
const plantHours = async ({ pool }: OperatorWorld): Promise<unknown> =>
  pool.query(
    `insert into belfry.hour (at, kind, lane, bucket, waited, ran, failed)
     select date_trunc('hour', belfry.now()) - w.ago, 'ping', 'default', w.bucket, 0, 50, 0
     from (values (interval '1 day', 26), (interval '8 days', 20)) as w (ago, bucket)`,
  );

function failures(its: OperatorWorld, job: Job): void {
  const failing = (customer: string) => its.job({ kind: "send-mail", payload: { customer, fails: true } }, "FAILED");

  job("the log of an attempt that failed", 3, async (at) => {
    await failing("ada");
    await at.link("Dead letters");
    const group = at.page.getByRole("row").filter({ hasText: "HTTP_503" });
    await at.click(group.locator("details.samples summary"));
    await at.click(group.locator("details.samples a").first());
    const log = at.page.getByRole("region", { name: "Log" });
    await expect.poll(() => log.textContent()).toContain("asks the provider");
    await at.page.getByRole("region", { name: "Stack" }).waitFor();
  });

  job("one customer's job", 2, async (at) => {
    const id = await failing("grace-7");
    await failing("grace-8");
    await at.link("Jobs");
    await at.page.getByRole("combobox", { name: /^Filter/ }).fill("payload.customer:grace-7");
    await at.page.keyboard.press("Enter");
    await expect.poll(() => at.page.locator(".row .row-link").count()).toBe(1);
    await at.click(at.page.locator(".row .row-link"));
    await at.page.getByRole("heading", { level: 1, name: `#${id}` }).waitFor();
  });

  job("retry all of one cause", 3, async (at) => {
    const before = (await dead(its)).jobs;
    expect(before).toBeGreaterThan(0);
    await at.link("Dead letters");
    await at.button(/^Retry .* of send-mail, HTTP_503$/);
    await at.click(at.page.getByRole("dialog").getByRole("button", { name: /^Retry/ }));
    await until("all of them were retried", async () => {
      const [bulk] = (await its.call<{ bulks: { state: string; changed: number }[] }>("GET", "/bulk")).bulks;
      return bulk?.state === "DONE" && bulk.changed === before;
    });
  });
}

async function dead({ call }: OperatorWorld): Promise<{ jobs: number }> {
  const { groups } = await call<{ groups: { kind: string; jobs: number }[] }>("GET", "/dead-letters");
  return { jobs: groups.filter(({ kind }) => kind === "send-mail").reduce((sum, { jobs }) => sum + jobs, 0) };
}

function changes(its: OperatorWorld, job: Job): void {
  job("pause a lane until 6:00", 3, async (at) => {
    await at.link("Lanes & workers");
    await at.button("Pause lane slow");
    // Not the hour that begins for the reader in Seoul while it is looked at.
    const hour = new Date().getUTCHours() === 20 ? 18 : 6;
    await at.page.getByLabel("Until").fill(`${hour}:00`);
    await at.button("Pause the lane");
    const lanes = () => its.call<{ lanes: { name: string; pausedUntil: string | null }[] }>("GET", "/lanes");
    const end = await until(
      "the end of the pause",
      async () => (await lanes()).lanes.find(({ name }) => name === "slow")?.pausedUntil,
    );
    // By the clock of the person at the page.
    expect(await at.page.evaluate((iso) => new Date(iso).getHours(), end)).toBe(hour);
    expect(Date.parse(end)).toBeGreaterThan(Date.now());
    await its.call("POST", "/lanes/slow/resume");
  });

  job("edit a schedule", 4, async (at) => {
    await its.call("POST", "/schedules", { id: "by-hand", kind: "ping", cron: "0 3 1 1 *", timezone: "UTC" });
    await at.link("Schedules");
    await at.link("by-hand");
    await at.button("Edit");
    const dialog = at.page.getByRole("dialog", { name: "Edit by-hand" });
    await dialog.getByLabel("minute hour day month weekday").fill("30 4 1 1 *");
    await at.click(dialog.getByRole("button", { name: "Save the schedule" }));
    const said = () => at.page.locator(".toast, dialog .problem").allTextContents();
    await expect.poll(said).toEqual([expect.stringContaining("by-hand is saved")]);
    const spec = () => its.call<{ spec: { expression: unknown } }>("GET", "/schedules/by-hand");
    await until("the new time", async () => JSON.stringify(await spec()).includes("30 4 1 1 *"));
  });

  job("cancel a run", 4, async (at) => {
    const starter = await its.job({ kind: "settle-day", payload: { day: "2026-11-22" } }, "SUCCESS");
    const runs = () => its.call<{ runs: { id: string; state: string }[] }>("GET", "/runs");
    const { id } = await until(`the run of ${starter}`, async () => (await runs()).runs[0]);
    await at.link("Runs");
    await at.link(/settle-day/);
    await at.button("Cancel");
    await at.button("Cancel the run");
    await until(
      "the run is canceled",
      async () => (await runs()).runs.find((run) => run.id === id)?.state === "CANCELED",
    );
  });

  job("approve what a run waits for", 4, async (at) => {
    await its.job({ kind: "pay" }, "SUCCESS");
    await at.link("Runs");
    await at.link(/^pay/);
    await at.button("Send the signal “approved”");
    const dialog = at.page.getByRole("dialog");
    await dialog.getByLabel("by").fill("ada");
    await dialog.getByLabel("cents").fill("700");
    await at.click(dialog.getByRole("button", { name: "Send" }));
    const jobs = () => its.call<{ jobs: { state: string; result: unknown }[] }>("GET", "/jobs?kind=pay.book");
    await until("its successor has the payload", async () => (await jobs()).jobs[0]?.state === "SUCCESS");
  });

  job("cancel all of a kind", 4, async (at) => {
    for (const n of [1, 2, 3]) await its.call("POST", "/jobs", { kind: "slow-export", payload: { n }, delay: "1h" });
    await at.link("Jobs");
    await at.page
      .getByRole("combobox", { name: /^Filter/ })
      .fill("kind:slow-export state:pending,queued,running,retry_wait");
    await at.page.keyboard.press("Enter");
    await at.button(/^Mark all 3 matching$/);
    await at.button("Cancel");
    await at.click(at.page.getByRole("dialog").getByRole("button", { name: /^Cancel/ }));
    await until("all of them are canceled", async () => {
      const { jobs } = await its.call<{ jobs: unknown[] }>("GET", "/jobs?kind=slow-export&state=CANCELED");
      return jobs.length === 3;
    });
  });
}
