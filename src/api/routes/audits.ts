import { iso } from "../../core/job/units.ts";
import { z } from "zod";
import { contractLimits } from "../../core/job/contract-limits.ts";
import { type Endpoint, endpoint } from "../endpoint.ts";
import type { ApiOptions } from "../options.ts";
import { pageOf } from "../query.ts";
import { id, limit, text } from "../query-fields.ts";
import { auditList } from "../shape/overview.ts";

const auditsQuery = z.strictObject({
  target: text(300, "Of this path and what lies below it: `/jobs/42`. Among the newest 20,000 changes.").optional(),
  cursor: id.optional(),
  limit: limit(contractLimits.listRowsMax, 50),
});

/** A caller chooses the name of its session, so the role stands apart from it. */
function signerOf(caller: string): { readonly role: string | null; readonly session: string | null } {
  const [, role = null, session = null] = /^arn:[\w-]+:sts::\d+:assumed-role\/(.+)\/([^/]+)$/.exec(caller) ?? [];
  return { role, session };
}

/** GET /audits: who changed what through this API, the newest first. */
export function auditEndpoints({ operations }: ApiOptions): readonly Endpoint[] {
  return [
    endpoint("GET /audits", {
      name: "listAudits",
      summary: "Who changed what, the newest first",
      scope: "everything",
      query: auditsQuery,
      replies: { 200: auditList },
      async handle({ query }) {
        const found = await operations.audits({
          before: query.cursor ?? null,
          limit: query.limit + 1,
          target: query.target,
        });
        const { rows, nextCursor } = pageOf(found, query.limit, ({ id: last }) => last);
        const audits = rows.map(({ at, ...row }) => ({ ...row, ...signerOf(row.caller), at: iso(at) }));
        return { status: 200, body: { audits, nextCursor } };
      },
    }),
  ];
}
