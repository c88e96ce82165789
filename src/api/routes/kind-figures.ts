import { z } from "zod";
import { contractLimits } from "../../core/job/contract-limits.ts";
import { iso, hourMs } from "../../core/job/units.ts";
import type { Period } from "../../core/ports/kind-figures.ts";
import { operationsLimits } from "../../core/ports/operations-limits.ts";
import { type Endpoint, endpoint } from "../endpoint.ts";
import type { ApiOptions } from "../options.ts";
import { instant, text, whole } from "../query-fields.ts";
import { kindFigureList, kindFigures } from "../shape/kind-figures.ts";

const { kindFigureHoursMax, kindFigureRowsMax } = operationsLimits;

const figuresQuery = z.strictObject({
  hours: whole(kindFigureHoursMax, 168, "How long the period is."),
  to: instant.optional(),
  against: whole(kindFigureHoursMax, 168, "How many hours earlier the period lies that it is compared with."),
  by: z.enum(["kind", "lane"]).default("kind"),
  kind: text(contractLimits.idCharactersMax).optional(),
  lane: text(contractLimits.idCharactersMax).optional(),
  include: z.literal("histogram").optional().describe("Also the durations that the percentiles are made of."),
});

/** GET /kind-figures: how often each kind failed and how long it waited and ran, in a period and in an earlier one. */
export const kindFiguresEndpoint = ({ operations, ports }: ApiOptions): Endpoint =>
  endpoint("GET /kind-figures", {
    name: "listKindFigures",
    summary: "How often each kind failed, waited and ran, beside an earlier period",
    scope: "list",
    query: figuresQuery,
    replies: { 200: kindFigureList },
    async handle({ query: { hours, to, against, by, kind, lane, include }, within }) {
      // The hour that has begun belongs to the period.
      const until = Math.ceil((to ?? (await ports.store.now()) + 1) / hourMs) * hourMs;
      const now = { from: until - hours * hourMs, to: until };
      const before = { from: now.from - against * hourMs, to: now.to - against * hourMs };
      const found = await operations.kindHours({ now, before, kind: kind ?? null, lane: lane ?? null });
      const shown = found.filter((each) => within === null || within.kinds.has(each.kind));
      return {
        status: 200,
        body: {
          period: spanJson(now),
          before: spanJson(before),
          kinds: kindFigures(shown, { by, hasHistogram: include !== undefined }),
          isMore: found.length === kindFigureRowsMax,
        },
      };
    },
  });

const spanJson = ({ from, to }: Period) => ({ from: iso(from), to: iso(to) });
