import { z } from "zod";
import type { OccurrencePlace, ScheduleRow } from "../../machine/schedule.ts";
import { closest } from "../closest.ts";
import { endpoint } from "../endpoint.ts";
import { type Bounds, ofSchedule } from "../scope.ts";
import type { ApiOptions } from "../options.ts";
import { HttpProblem } from "../problem.ts";
import { contractLimits } from "../../machine/contract-limits.ts";
import { pageBefore } from "../query.ts";
import { instant, limit, nameText, text, whole } from "../query-fields.ts";
import { explainedTimes, nextTimes, scheduleDetail, scheduleList } from "../shape/schedule.ts";
import { insightLimits } from "../../insight/insight-limits.ts";
import { countIn, occurrenceCounts, readOccurrenceCounts } from "../../insight/occurrence-counts.ts";
import { withEnds } from "../../insight/occurrence-ends.ts";
import { readOccurrences } from "../../insight/occurrences.ts";
import { endedJson, occurrenceList } from "../shape/schedule-outcome.ts";
import { expressionOf, occurrenceJson, pauseJson, scheduleJson } from "../view.ts";
import { dayMs, iso } from "../../machine/units.ts";
import { explain, type Explained } from "../../insight/explain.ts";
import { preview } from "../../calendar/preview.ts";
import { unknownSchedule } from "../../schedule/schedule-refused.ts";
import { etagOf } from "../conditional.ts";
import { explainQuery, nextQuery } from "../schedule-query.ts";
import { withRefusals, problemOf } from "../schedule-refusal.ts";
import { type JobRow, readRecords } from "../../insight/job.ts";
import { previewJson } from "./preview.ts";

const placePattern = /^(\d{1,15})~([-\dT:]{1,32})~([01])~([\w/+-]{1,64})$/;
/** `nominalAt~localTime~fold~timezone`, as the page before gave it. */
const place = z
  .string("must be a text")
  .regex(placePattern, "must be the nextCursor of the page before")
  .transform((value): OccurrencePlace => {
    const [nominalAt, localTime = "", fold, timezone = ""] = value.split("~");
    return { nominalAt: Number(nominalAt), localTime, fold: Number(fold), timezone };
  })
  .meta({ description: pageBefore, as: { type: "string", pattern: placePattern.source } });

const occurrencesQuery = z.strictObject({
  limit: limit(50),
  nominalFrom: instant.optional().describe("Planned for this time or later."),
  nominalTo: instant.optional().describe("Planned for before this time."),
  cursor: place.optional(),
});

const countsQuery = z.strictObject({
  days: whole(insightLimits.occurrenceDaysMax, 28, "How far back."),
});

const schedulesQuery = z.strictObject({
  limit: limit(contractLimits.schedulesMax, contractLimits.schedulesMax),
  cursor: nameText(pageBefore).optional(),
});

export function scheduleEndpoints(options: ApiOptions) {
  const { insight } = options;
  const { store } = options.ports;
  const mustExist = async (id: string, within: Bounds): Promise<void> => {
    if ((await store.scheduleFacts(id)) !== null) return;
    throw unknown(
      id,
      (await store.schedules()).filter(isWithin(within)).map((row) => row.id),
    );
  };
  return [
    endpoint("GET /schedules", {
      name: "listSchedules",
      summary: "The schedules by id",
      scope: "list",
      query: schedulesQuery,
      replies: { 200: scheduleList },
      async reply({ query: { limit: rowsMax, cursor }, within }) {
        const after = cursor === undefined ? {} : { after: cursor };
        const rows = within.isWhole ? { limit: rowsMax + 1 } : {};
        const [all, now] = await Promise.all([store.schedules({ ...rows, ...after }), store.now()]);
        const found = all.filter(isWithin(within));
        const page = found.slice(0, rowsMax);
        const nextCursor = found.length > rowsMax ? (page.at(-1)?.id ?? null) : null;
        return { schedules: page.map((row) => scheduleJson(row, now)), nextCursor };
      },
    }),
    endpoint("GET /schedules/:id/occurrences", {
      name: "listOccurrences",
      summary: "What became of its times, the newest first; also after it was deleted",
      ...ofOneSchedule(options),
      query: occurrencesQuery,
      replies: { 200: occurrenceList },
      async reply({ params: { id }, query: { limit: rowsMax, nominalFrom: from, nominalTo: to, cursor }, within }) {
        const before = to === undefined ? undefined : { nominalAt: to, localTime: "", fold: 0, timezone: "" };
        const rows = await insight.run(readOccurrences, { id, limit: rowsMax, after: cursor ?? before, from });
        if (rows.length === 0) await mustExist(id, within);
        const last = rows.length < rowsMax ? undefined : rows.at(-1);
        const nextCursor = last === undefined ? null : cursorOf(last);
        return { occurrences: endedJson(await withEnds(insight, rows)), nextCursor };
      },
    }),
    endpoint("GET /schedules/:id/occurrences/counts", {
      name: "countOccurrences",
      summary: "What became of its times, counted by quarter of an hour",
      description:
        "By how they ended and how late they started, of the newest 20,160 times; also after it was deleted.",
      ...ofOneSchedule(options),
      query: countsQuery,
      replies: { 200: occurrenceCounts },
      async reply({ params: { id }, query: { days }, within }) {
        const to = await store.now();
        const from = to - days * dayMs;
        const quarters = await insight.run(readOccurrenceCounts, { id, from, to });
        if (quarters.length === 0) await mustExist(id, within);
        const isMore = countIn(quarters) === insightLimits.occurrencesCountedMax;
        return { from: iso(from), to: iso(to), quarters, isMore };
      },
    }),
  ];
}

const isWithin =
  (within: Bounds) =>
  ({ spec }: ScheduleRow): boolean =>
    within.hasKind(spec.job.kind);

const cursorOf = ({ nominalAt, localTime, fold, timezone }: OccurrencePlace): string =>
  [nominalAt, localTime, fold, timezone].join("~");

function unknown(id: string, known: readonly string[]): HttpProblem {
  const near = closest(id, known);
  const hint = near.length > 0 ? `did you mean ${near.join(" or ")}?` : "GET /schedules lists them";
  return new HttpProblem("unknown-schedule", `there is no schedule ${JSON.stringify(id)}: ${hint}`, {
    extra: { near },
  });
}

const schedulePath = z.object({ id: text(200) });
export const ofOneSchedule = (options: ApiOptions) =>
  ({
    scope: ofSchedule(options),
    params: schedulePath,
    refuses: ["unknown-schedule"],
    example: { params: { id: "nightly" } },
  }) as const;

export function scheduleReadEndpoints(options: ApiOptions) {
  const { ports } = options;
  const read = ofOneSchedule(options);
  return [
    endpoint("GET /schedules/:id", {
      ...read,
      name: "getSchedule",
      summary: "One schedule with its versions, also after it was deleted",
      description: "With its versions, also after it was deleted. `ETag` begins with its version.",
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
      summary: "Its next times, with what clock changes do to them",
      description: "With what clock changes do to each. A time that does not fire has a note.",
      example: { params: { id: "nightly" }, query: { count: "3" } },
      query: nextQuery,
      replies: { 200: nextTimes },
      async reply({ params: { id }, query: { count, after } }) {
        const facts = await ports.store.scheduleFacts(id);
        if (facts === null || facts.row === null) throw problemOf(unknownSchedule(id));
        const { spec, pause } = facts.row;
        const times = preview(spec, after ?? facts.now - (spec.spread?.offsetMs ?? 0), count);
        const next = previewJson(spec.timezone, times);
        const ended = next.ended && spec.expression.form !== "after";
        return { id: spec.id, enabled: spec.enabled, ...pauseJson(pause), ...next, ended };
      },
    }),
    endpoint("GET /schedules/:id/explain", {
      ...read,
      name: "explainTime",
      refuses: ["unknown-schedule", "invalid-time"],
      summary: "What became of one of its times, and why",
      description: "What became of one time and why. `time` is an instant, a local date and time, or a time of today.",
      example: { params: { id: "nightly" }, query: { time: "2026-11-21T02:30" } },
      query: explainQuery,
      replies: { 200: explainedTimes },
      async reply({ params: { id }, query: { time }, within }) {
        const sources = { store: ports.store, insight: options.insight };
        const answers = await withRefusals(explain(sources, id, time, (kind) => within.hasKind(kind)));
        const ids = answers.flatMap(({ job }) => job?.id ?? []);
        const rows = await options.insight.run(readRecords, { ids, whole: true });
        const jobs = new Map<string, JobRow>(rows.map(({ generation: _generation, ...row }) => [row.id, row]));
        return { answers: answers.map((answer) => explainedJson(answer, jobs)) };
      },
    }),
  ];
}

const explainedJson = ({ occurrence, job, ...answer }: Explained, jobs: ReadonlyMap<string, JobRow>) => ({
  ...answer,
  occurrence: occurrence === null ? null : occurrenceJson(occurrence),
  job: jobs.get(job?.id ?? "") ?? null,
});
