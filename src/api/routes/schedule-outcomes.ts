import { z } from "zod";
import { contractLimits } from "../../core/job/contract-limits.ts";
import { operationsLimits } from "../../core/ports/operations-limits.ts";
import { preview } from "../../core/calendar/preview.ts";
import type { ScheduleRow } from "../../core/ports/schedule.ts";
import { scheduleSorts, scheduleStates } from "../../core/ports/schedule-outcome.ts";
import { type Endpoint, endpoint } from "../endpoint.ts";
import { type Bounds, searchWithin } from "../scope.ts";
import type { ApiOptions } from "../options.ts";
import { durationUpTo, limit, text } from "../query-fields.ts";
import { previewJson } from "./preview.ts";
import {
  endedJson,
  isFailingNow,
  jobsOf,
  scheduleOutcomeJson,
  scheduleOutcomeList,
  type ScheduleOutcomeListReply,
  type ScheduleOutcomeReply,
} from "../shape/schedule-outcome.ts";

const outcomesQuery = z.strictObject({
  /** Words of which each is a part of the id, the kind or the app. */
  text: text(200).optional(),
  id: text(200).optional(),
  kind: text(contractLimits.idCharactersMax).optional(),
  app: text(contractLimits.idCharactersMax).optional(),
  zone: text(contractLimits.idCharactersMax).optional(),
  state: z.enum(scheduleStates).optional(),
  lateOver: durationUpTo(contractLimits.misfireAgeMsMax, "Whose last occurrence started later than this.").optional(),
  sort: z.enum(scheduleSorts).default("id"),
  cursor: z
    .string()
    .regex(/^\d{1,5}$/, "must be the number of schedules before the page")
    .transform(Number)
    .default(0),
  limit: limit(operationsLimits.outcomeRowsMax, 50),
  include: z.literal("times").optional().describe("With `id`: also the schedule's newest and next times."),
});

/** GET /schedule-outcomes: a page of schedules, each with its next time and what became of its last ones. */
export function scheduleOutcomeEndpoint(options: ApiOptions): Endpoint {
  return endpoint("GET /schedule-outcomes", {
    name: "listScheduleOutcomes",
    summary: "Schedules with their next time and how their last ones ended, by filter",
    scope: "list",
    query: outcomesQuery,
    replies: { 200: scheduleOutcomeList },
    handle: async ({ query, within }) => ({ status: 200, body: await outcomes(options, query, within) }),
  });
}

async function outcomes(
  options: ApiOptions,
  {
    text: words,
    id,
    kind,
    app,
    zone,
    state,
    lateOver,
    sort,
    cursor,
    limit: rows,
    include,
  }: z.infer<typeof outcomesQuery>,
  within: Bounds | null,
): Promise<ScheduleOutcomeListReply> {
  const { operations, ports } = options;
  const search = {
    words: words?.trim().split(/\s+/),
    id,
    kind,
    app,
    zone,
    state,
    lateOverMs: lateOver,
    ...searchWithin(within),
  };
  const [page, now] = await Promise.all([
    operations.searchSchedules({ search, sort, offset: cursor, limit: rows }),
    ports.store.now(),
  ]);
  const ids = page.schedules.map(({ id }) => id);
  const last = await operations.latestOccurrences(ids, operationsLimits.outcomesShown);
  const ends = await operations.occurrenceEnds(jobsOf(last));
  const bySchedule = Map.groupBy(last, ({ scheduleId }) => scheduleId);
  const failing = ids.filter((id) => {
    const own = bySchedule.get(id) ?? [];
    const hasSuccess = own.some(({ jobId }) => jobId !== null && ends.get(jobId)?.result === "succeeded");
    return !hasSuccess && isFailingNow(own, ends);
  });
  const since = await operations.failingSince(failing, operationsLimits.failingLooksMax);
  const after = cursor + ids.length;
  const schedules = page.schedules.map((row) =>
    scheduleOutcomeJson(row, {
      rows: bySchedule.get(row.id) ?? [],
      ends,
      now,
      failing: since.get(row.id),
    }),
  );
  const [first] = page.schedules;
  const times =
    include === undefined || id === undefined || first === undefined ? null : await timesOf(options, first, now);
  return {
    schedules: times === null ? schedules : schedules.map((each) => ({ ...each, times })),
    total: page.total,
    isMore: page.isMore,
    nextCursor: ids.length > 0 && after < page.total ? String(after) : null,
  };
}

async function timesOf(
  { operations, ports: { store } }: ApiOptions,
  { spec }: ScheduleRow,
  now: number,
): Promise<NonNullable<ScheduleOutcomeReply["times"]>> {
  const rows = await store.occurrences(spec.id, operationsLimits.outcomesShown);
  const { times } = previewJson(spec.timezone, preview(spec, now, operationsLimits.nextTimesShown));
  return { occurrences: endedJson(rows, await operations.occurrenceEnds(jobsOf(rows)), now), next: times };
}
