import { z } from "zod";
import { contractLimits } from "../../machine/contract-limits.ts";
import { insightLimits } from "../../insight/insight-limits.ts";
import { preview } from "../../calendar/preview.ts";
import type { ScheduleRow } from "../../machine/schedule.ts";
import { readObjectives } from "../../insight/objectives.ts";
import { readOccurrences } from "../../insight/occurrences.ts";
import { readFailingSince, readLatestOccurrences, withEnds } from "../../insight/occurrence-ends.ts";
import { scheduleSorts, scheduleStates, searchSchedules } from "../../insight/schedules.ts";
import { type Database, oneRow } from "../../insight/sql-query.ts";
import { endpoint } from "../endpoint.ts";
import type { Bounds } from "../scope.ts";
import type { ApiOptions } from "../options.ts";
import { durationUpTo, limit, nameText, text } from "../query-fields.ts";
import { previewJson } from "./preview.ts";
import {
  endedJson,
  hasSucceeded,
  isFailingNow,
  scheduleOutcomeJson,
  scheduleOutcomeList,
  type ScheduleOutcomeListReply,
  type ScheduleOutcomeReply,
} from "../shape/schedule-outcome.ts";

const outcomesQuery = z.strictObject({
  /** Words of which each is a part of the id, the kind or the app. */
  text: text(200).optional(),
  id: text(200).optional(),
  kind: nameText().optional(),
  app: nameText().optional(),
  zone: nameText().optional(),
  state: z.enum(scheduleStates).optional(),
  lateOver: durationUpTo(contractLimits.misfireAgeMsMax, "Whose last occurrence started later than this.").optional(),
  sort: z.enum(scheduleSorts).default("id"),
  cursor: z
    .string()
    .regex(/^\d{1,5}$/, "must be the number of schedules before the page")
    .transform(Number)
    .default(0),
  limit: limit(50, insightLimits.outcomeRowsMax),
  include: z.literal("times").optional().describe("With `id`: also the schedule's newest and next times."),
});

export function scheduleOutcomeEndpoint(options: ApiOptions) {
  return endpoint("GET /schedule-outcomes", {
    name: "listScheduleOutcomes",
    summary: "Schedules with their next time and how their last ones ended, by filter",
    description: "By filter and order, each with its next time, its last 30 times and since when it fails.",
    example: { query: { state: "failing", sort: "failing" } },
    scope: "list",
    query: outcomesQuery,
    replies: { 200: scheduleOutcomeList },
    reply: ({ query, within }) => outcomes(options, query, within),
  });
}

async function outcomes(
  options: ApiOptions,
  { text: words, lateOver, sort, cursor, limit: rows, include, ...fields }: z.infer<typeof outcomesQuery>,
  within: Bounds,
): Promise<ScheduleOutcomeListReply> {
  const { insight, ports } = options;
  const search = {
    ...fields,
    words: words?.trim().split(/\s+/),
    lateOverMs: lateOver,
    ...within.search,
  };
  const [page, now] = await Promise.all([
    oneRow(insight, searchSchedules, { search, sort, offset: cursor, limit: rows }),
    ports.store.now(),
  ]);
  const ids = page.schedules.map(({ id }) => id);
  const last = await insight.run(readLatestOccurrences, { schedules: ids, each: insightLimits.outcomesShown });
  const bySchedule = Map.groupBy(last, ({ schedule }) => schedule);
  const failing = ids.filter((id) => {
    const past = bySchedule.get(id) ?? [];
    return isFailingNow(past) && !past.some(hasSucceeded);
  });
  const since = await failingSince(insight, failing);
  const after = cursor + ids.length;
  const schedules = page.schedules.map((row) =>
    scheduleOutcomeJson(row, { past: bySchedule.get(row.id) ?? [], now, failing: since.get(row.id) }),
  );
  const [first] = page.schedules;
  const times =
    include === undefined || fields.id === undefined || first === undefined ? null : await timesOf(options, first, now);
  return {
    schedules: times === null ? schedules : schedules.map((each) => ({ ...each, times })),
    total: page.total,
    isMore: page.isMore,
    nextCursor: ids.length > 0 && after < page.total ? String(after) : null,
  };
}

async function failingSince(insight: Database, schedules: readonly string[]) {
  const rows =
    schedules.length === 0
      ? []
      : await insight.run(readFailingSince, { schedules, each: insightLimits.failingLooksMax });
  return new Map(rows.map((row) => [row.schedule, row]));
}

async function timesOf(
  { insight }: ApiOptions,
  { spec }: ScheduleRow,
  now: number,
): Promise<NonNullable<ScheduleOutcomeReply["times"]>> {
  const [rows, { objectives }] = await Promise.all([
    insight.run(readOccurrences, { id: spec.id, limit: insightLimits.outcomesShown }),
    readObjectives(insight, { schedule: spec.id, isWhole: true }),
  ]);
  const { nextTimesShown, nextTimesLooked, nextExcludedShown } = insightLimits;
  const looked = spec.calendars === undefined ? nextTimesShown : nextTimesLooked;
  const { times } = previewJson(spec.timezone, preview(spec, now, looked));
  const later = times.slice(nextTimesShown).filter(({ exclusion }) => exclusion !== null);
  const next = [...times.slice(0, nextTimesShown), ...later.slice(0, nextExcludedShown)];
  return { occurrences: endedJson(await withEnds(insight, rows)), next, objective: objectives[0] ?? null };
}
