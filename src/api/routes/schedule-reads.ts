import { iso } from "../../core/job/units.ts";
import { z } from "zod";
import { explain, type Explained } from "../../core/admin/explain.ts";
import { preview } from "../../core/calendar/preview.ts";
import { unknownSchedule } from "../../core/scheduler/schedule-refused.ts";
import { etagOf } from "../conditional.ts";
import { type Endpoint, endpoint } from "../endpoint.ts";
import type { ApiOptions } from "../options.ts";
import { text } from "../query-fields.ts";
import { explainQuery, nextQuery } from "../schedule-query.ts";
import { answered, problemOf } from "../schedule-refusal.ts";
import { explainedTimes, nextTimes, scheduleDetail } from "../shape/schedule.ts";
import { ofSchedule } from "../scope.ts";
import { jobJson } from "../shape/job.ts";
import { expressionOf, occurrenceJson, scheduleJson } from "../view.ts";
import { previewJson } from "./preview.ts";
import { pauseJson } from "../shape/pause.ts";

export const schedulePath = z.object({ id: text(200) });

/** GET /schedules/:id, its /next and /explain. */
export function scheduleReadEndpoints(options: ApiOptions): readonly Endpoint[] {
  const { ports } = options;
  const read = { scope: ofSchedule(options), params: schedulePath } as const;
  return [
    endpoint("GET /schedules/:id", {
      ...read,
      name: "getSchedule",
      refuses: ["unknown-schedule"],
      summary: "One schedule with its versions, also after it was deleted",
      hasVersion: true,
      replies: { 200: scheduleDetail },
      async handle({ params: { id } }) {
        const facts = await ports.store.scheduleFacts(id);
        if (facts === null) throw problemOf(unknownSchedule(id));
        const { row, ledgerFrom } = facts;
        const versions = facts.versions.map(({ version, spec, fromAt }) => {
          return { version, expression: spec === null ? null : expressionOf(spec.expression), spec, from: iso(fromAt) };
        });
        const now = row === null ? { id, deleted: true } : { ...scheduleJson(row, facts.now), deleted: false };
        const body = { ...now, ledgerFrom: ledgerFrom === null ? null : iso(ledgerFrom), versions };
        return { status: 200, body, ...(row === null ? {} : { etag: etagOf(row.version) }) };
      },
    }),
    endpoint("GET /schedules/:id/next", {
      ...read,
      name: "nextTimes",
      refuses: ["unknown-schedule"],
      summary: "Its next times, with what clock changes do to them",
      query: nextQuery,
      replies: { 200: nextTimes },
      async handle({ params: { id }, query: { count, after } }) {
        const facts = await ports.store.scheduleFacts(id);
        if (facts === null || facts.row === null) throw problemOf(unknownSchedule(id));
        const { spec, pause } = facts.row;
        const times = preview(spec, after ?? facts.now, count);
        const body = { id: spec.id, enabled: spec.enabled, ...pauseJson(pause), ...previewJson(spec.timezone, times) };
        return { status: 200, body };
      },
    }),
    endpoint("GET /schedules/:id/explain", {
      ...read,
      name: "explainTime",
      refuses: ["unknown-schedule", "invalid-time"],
      summary: "What became of one of its times, and why",
      query: explainQuery,
      replies: { 200: explainedTimes },
      async handle({ params: { id }, query: { time }, within }) {
        const sees = (kind: string): boolean => within?.kinds.has(kind) ?? true;
        const answers = await answered(explain(ports, id, time, sees));
        const now = await ports.store.now();
        return { status: 200, body: { answers: answers.map((answer) => explainedJson(answer, now)) } };
      },
    }),
  ];
}

const explainedJson = ({ occurrence, job, ...answer }: Explained, now: number) => ({
  ...answer,
  occurrence: occurrence === null ? null : occurrenceJson(occurrence),
  job: job === null ? null : jobJson(job, now),
});
