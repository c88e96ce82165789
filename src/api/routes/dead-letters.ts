import { iso } from "../../core/job/units.ts";
import { z } from "zod";
import { contractLimits } from "../../core/job/contract-limits.ts";
import type { FailureGroup } from "../../core/ports/job-search.ts";
import { type Endpoint, endpoint } from "../endpoint.ts";
import type { ApiOptions } from "../options.ts";
import { text } from "../query-fields.ts";
import { failureGroupList } from "../shape/overview.ts";

/** GET /dead-letters: FAILED jobs that wait for a person. The jobs of a group: GET /jobs?state=FAILED&fingerprint=... */
export function deadLetterEndpoints({ operations }: ApiOptions): readonly Endpoint[] {
  return [
    endpoint("GET /dead-letters", {
      name: "listDeadLetters",
      summary: "FAILED jobs in groups that failed alike, the largest first",
      scope: "list",
      query: z.strictObject({ kind: text(contractLimits.idCharactersMax).optional() }),
      replies: { 200: failureGroupList },
      async handle({ query, within }) {
        const { groups, isMore } = await operations.failureGroups({ kind: query.kind ?? null });
        const shown = groups.filter(({ kind }) => within === null || within.kinds.has(kind));
        return { status: 200, body: { groups: shown.map(groupJson), isMore } };
      },
    }),
  ];
}

const groupJson = ({ firstAt, lastAt, samples, ...group }: FailureGroup) => ({
  ...group,
  firstAt: iso(firstAt),
  lastAt: iso(lastAt),
  newest: samples[0]?.jobId ?? "",
  samples: samples.map(({ jobId, at, message }) => ({ job: jobId, at: iso(at), message })),
});
