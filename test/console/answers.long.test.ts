import { expect, test } from "vitest";
import { until } from "../local/until.ts";
import { describeOperator, type OperatorWorld } from "./operator-world.ts";

const slowMs = 120_000;
const minuteMs = 60_000;

interface Group {
  readonly kind: string;
  readonly jobs: number;
  readonly firstAt: string;
  readonly lastAt: string;
}

/** Each answer that an operator acts on, beside what the system did: a false one fails here. */
await describeOperator("no false answer", (its) => {
  const groups = async (): Promise<readonly Group[]> =>
    (await its.call<{ groups: readonly Group[] }>("GET", "/dead-letters")).groups;

  test(
    "a retry that fails again says so, keeps the group's first time, and stands in the changes of the group and of the job",
    async () => {
      const ids = await failing(its, ["ada", "ben", "cleo"]);
      const [before] = await groups();
      const at = await its.sits();
      const { page } = at;
      await at.link("Dead letters");
      await at.button(/^Retry 3 of send-mail, HTTP_503$/);
      await page
        .getByRole("dialog")
        .getByRole("button", { name: /^Retry/ })
        .click();
      await page.getByRole("alert").getByText("3 retried: 3 failed again").waitFor();
      const [after] = await groups();
      expect(after).toMatchObject({ jobs: 3, firstAt: before?.firstAt });
      expect(after?.lastAt).not.toBe(before?.lastAt);
      await page.getByText("Who changed it").click();
      await page.getByText("POST /dead-letters/redrive").first().waitFor();
      await page.goto(new URL(`/console/jobs/${ids[0]}`, page.url()).href);
      await page.getByText("Who changed it").click();
      await page.getByText("POST /dead-letters/redrive").first().waitFor();
      await page.close();
    },
    slowMs,
  );

  test(
    "what comes up has every job that waits for its time, in its lane and its minute",
    async () => {
      for (const customer of ["eve", "fay"]) {
        await its.call("POST", "/jobs", { kind: "send-mail", payload: { customer }, delay: "20m" });
      }
      const { jobs, lanes, parts } = await its.call<{
        jobs: readonly { kind: string; lane: string; jobs: number }[];
        lanes: readonly { lane: string; jobs: number; times: number }[];
        parts: readonly number[];
      }>("GET", "/upcoming?hours=1");
      expect(jobs).toMatchObject([{ kind: "send-mail", lane: "mail", jobs: 2 }]);
      expect(lanes.find(({ lane }) => lane === "mail")).toMatchObject({ jobs: 2, times: 0 });
      // A schedule's own next times are counted once, also where they are written ahead.
      const all = lanes.reduce((sum, each) => sum + each.jobs + each.times, 0);
      expect(parts.reduce((sum, part) => sum + part, 0)).toBe(all);
      const at = await its.sits();
      await at.link("Upcoming");
      const due = at.page.getByRole("region", { name: "Jobs that wait for their time" });
      await expect.poll(() => due.getByRole("row").nth(1).textContent()).toMatch(/^2.*send-mail.*mail/);
      await at.leave();
    },
    slowMs,
  );

  test(
    "a forced backfill is no delay: the share on time stays as it was",
    async () => {
      const outcome = async () =>
        (
          await its.call<{ schedules: readonly { onTimeShare: number | null; latenessMs: number | null }[] }>(
            "GET",
            "/schedule-outcomes?id=nightly-import",
          )
        ).schedules[0];
      const to = new Date(Date.now()).toISOString();
      // The schedule is yearly: on each day of a year, this far back lies a time of it that is over a day old.
      const from = new Date(Date.now() - 368 * 24 * 60 * minuteMs).toISOString();
      const planned = await its.call<{ id: string }>("POST", "/schedules/nightly-import/backfill", {
        from,
        to,
        force: true,
      });
      expect(planned.id).toBeDefined();
      await until("the past time ran", async () => {
        const { rows } = await its.pool.query<{ n: number }>(
          "select count(*)::int as n from belfry.occurrence where schedule_id = 'nightly-import' and lateness_ms > 86400000",
        );
        return (rows[0]?.n ?? 0) > 0;
      });
      expect(await outcome()).toMatchObject({ onTimeShare: null, latenessMs: null });
    },
    slowMs,
  );

  test(
    "Live goes within four seconds of an API that hangs, and never stands beside an alert that nothing answers",
    async () => {
      const at = await its.sits();
      await at.page.getByText("Live", { exact: true }).first().waitFor();
      const pid = its.system.processes().find(({ name }) => name === "api")?.pid;
      if (pid === undefined) throw new Error("no process of the API");
      const begin = performance.now();
      process.kill(pid, "SIGSTOP");
      await at.page.getByText("what you see may be old").waitFor();
      expect(performance.now() - begin).toBeLessThan(4_500);
      expect(await at.page.locator(".connection").getAttribute("class")).not.toContain("live");
      process.kill(pid, "SIGCONT");
      await at.page.getByText("what you see may be old").waitFor({ state: "hidden" });
      await at.page.close();
    },
    slowMs,
  );
});

async function failing(its: OperatorWorld, customers: readonly string[]): Promise<readonly string[]> {
  return await Promise.all(
    customers.map((customer) => its.job({ kind: "send-mail", payload: { customer, fails: true } }, "FAILED")),
  );
}
