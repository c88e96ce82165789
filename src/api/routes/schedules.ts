import { z } from "zod";
import type { OccurrencePlace } from "../../core/ports/schedule.ts";
import { closest } from "../closest.ts";
import { type Endpoint, endpoint } from "../endpoint.ts";
import { ofSchedule } from "../scope.ts";
import type { ApiOptions } from "../options.ts";
import { HttpProblem } from "../problem.ts";
import { occurrencesQuery, schedulesQuery } from "../query.ts";
import { text } from "../query-fields.ts";
import { scheduleList } from "../shape/schedule.ts";
import { endedJson, jobsOf, occurrenceList } from "../shape/schedule-outcome.ts";
import { scheduleJson } from "../view.ts";

/** GET /schedules and GET /schedules/:id/occurrences (newest first). */
export function scheduleEndpoints(options: ApiOptions): readonly Endpoint[] {
  const { operations } = options;
  const { store } = options.ports;
  return [
    endpoint("GET /schedules", {
      name: "listSchedules",
      summary: "The schedules by id",
      scope: "list",
      query: schedulesQuery,
      replies: { 200: scheduleList },
      async handle({ query: { limit, cursor }, within }) {
        const after = cursor === undefined ? {} : { after: cursor };
        const rows = within === null ? { limit: limit + 1 } : {};
        const [all, now] = await Promise.all([store.schedules({ ...rows, ...after }), store.now()]);
        const found = all.filter(({ spec }) => within === null || within.kinds.has(spec.job.kind));
        const page = found.slice(0, limit);
        const nextCursor = found.length > limit ? (page.at(-1)?.id ?? null) : null;
        return { status: 200, body: { schedules: page.map((row) => scheduleJson(row, now)), nextCursor } };
      },
    }),
    endpoint("GET /schedules/:id/occurrences", {
      name: "listOccurrences",
      refuses: ["unknown-schedule"],
      summary: "What became of its times, the newest first; also after it was deleted",
      scope: ofSchedule(options),
      params: z.object({ id: text(200) }),
      query: occurrencesQuery,
      replies: { 200: occurrenceList },
      async handle({ params: { id }, query: { limit, cursor } }) {
        const rows = await store.occurrences(id, limit, cursor);
        if (rows.length === 0 && (await store.scheduleFacts(id)) === null)
          throw unknown(
            id,
            (await store.schedules()).map((row) => row.id),
          );
        const last = rows.length < limit ? undefined : rows.at(-1);
        const nextCursor = last === undefined ? null : cursorOf(last);
        const ends = await operations.occurrenceEnds(jobsOf(rows));
        return { status: 200, body: { occurrences: endedJson(rows, ends, await store.now()), nextCursor } };
      },
    }),
  ];
}

const cursorOf = ({ nominalAt, localTime, fold, timezone }: OccurrencePlace): string =>
  [nominalAt, localTime, fold, timezone].join("~");

function unknown(id: string, known: readonly string[]): HttpProblem {
  const near = closest(id, known);
  const hint = near.length > 0 ? `did you mean ${near.join(" or ")}?` : "GET /schedules lists them";
  return new HttpProblem("unknown-schedule", `there is no schedule ${JSON.stringify(id)}: ${hint}`, {
    extra: { near },
  });
}
