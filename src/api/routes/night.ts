import { z } from "zod";
import { insightLimits } from "../../insight/insight-limits.ts";
import { night, nightRows, nightRowsOf, readNightBars, readNightCells, readNightPauses } from "../../insight/night.ts";
import { hourMs, iso } from "../../machine/units.ts";
import { endpoint } from "../endpoint.ts";
import type { ApiOptions } from "../options.ts";
import { invalidTime } from "../problem.ts";
import { instant } from "../query-fields.ts";

const nightQuery = z.strictObject({
  from: instant.optional().describe("A day before `to` without it."),
  to: instant.optional().describe("Now without it."),
  by: z.enum(nightRows).default("schedule").describe("What has a row of its own."),
});

const { nightHoursMax } = insightLimits;

export const nightEndpoint = ({ insight, ports }: ApiOptions) =>
  endpoint("GET /night", {
    name: "getNight",
    summary: "What ran in a range of time, by schedule, kind or lane, with waits and pauses",
    description:
      "One bar for each single job, each run and each time at which a schedule started nothing. Of more than 2,000 each row has counts by part of the range instead. What ended in it is read up to 50,000 of each retention, the last first, and of what ended behind it the first 10,000.",
    example: { query: { by: "schedule" } },
    scope: "list",
    query: nightQuery,
    replies: { 200: night },
    refuses: ["invalid-time"],
    async reply({ query: { from, to, by }, within }) {
      const till = to ?? (await ports.store.now());
      const since = from ?? till - 24 * hourMs;
      if (since >= till || till - since > nightHoursMax * hourMs)
        throw invalidTime(
          "?to",
          `must lie after from, by at most ${nightHoursMax} hours; from is ${iso(since)} and to is ${iso(till)}`,
        );
      const search = { from: since, to: till, by, kinds: within.search.kinds ?? null };
      const [bars, pauses] = await Promise.all([
        insight.run(readNightBars, search),
        insight.run(readNightPauses, search),
      ]);
      const cells = bars.length > 0 ? [] : await insight.run(readNightCells, search);
      return { from: iso(since), to: iso(till), by, ...nightRowsOf({ bars, cells, pauses }) };
    },
  });
