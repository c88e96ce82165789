import { backfill, type BackfillReport } from "../../core/admin/backfill.ts";
import { explain, type Explained } from "../../core/admin/explain.ts";
import { preview } from "../../core/calendar/preview.ts";
import {
  createSchedule,
  deleteSchedule,
  pauseSchedule,
  type ScheduleInput,
  triggerSchedule,
  updateSchedule,
} from "../../core/admin/schedule-control.ts";
import { type RefusalCode, ScheduleRefused, unknownSchedule } from "../../core/scheduler/schedule-refused.ts";
import { z } from "zod";
import { type Endpoint, endpoint } from "../endpoint.ts";
import { text } from "../query.ts";
import {
  backfilled,
  deleted,
  explainedTimes,
  nextTimes,
  schedule,
  scheduleDetail,
  triggered,
} from "../shape/schedule.ts";
import type { ApiOptions } from "../options.ts";
import { previewJson } from "./preview.ts";
import { Problem } from "../problem.ts";
import {
  backfillBody,
  changedScheduleBody,
  explainQuery,
  newScheduleBody,
  nextQuery,
  triggerBody,
} from "../schedule-query.ts";
import { expressionOf, jobJson, occurrenceJson, scheduleJson } from "../view.ts";

const schedulePath = z.object({ id: text(200) });

/**
 * POST /schedules, PUT and DELETE /schedules/:id, POST /schedules/:id/{pause,resume,trigger,backfill},
 * GET /schedules/:id, its /next and /explain. What code defines is only paused, resumed, triggered and backfilled here.
 */
export function scheduleControlEndpoints(options: ApiOptions): readonly Endpoint[] {
  return [...writes(options), ...pauses(options), ...runs(options), ...reads(options)];
}

const optionsOf = ({ stage, dispatchWindowMs }: ApiOptions) => ({ stage: stage ?? "dev", dispatchWindowMs });
const change = { role: "operate", params: schedulePath } as const;

function writes(options: ApiOptions): readonly Endpoint[] {
  const { ports, registry } = options;
  return [
    endpoint({
      method: "POST",
      path: "/schedules",
      summary: "Make a schedule that no code defines",
      role: "operate",
      body: newScheduleBody,
      replies: { 201: schedule },
      async handle({ body }) {
        const row = await answered(createSchedule(ports, registry, body as ScheduleInput, optionsOf(options)));
        return { status: 201, body: scheduleJson(row), location: `/schedules/${encodeURIComponent(row.id)}` };
      },
    }),
    endpoint({
      ...change,
      method: "PUT",
      path: "/schedules/:id",
      summary: "Change a schedule that no code defines",
      body: changedScheduleBody,
      replies: { 200: schedule },
      async handle({ params, body }) {
        const input = { ...body, id: params.id } as ScheduleInput;
        const row = await answered(updateSchedule(ports, registry, input, optionsOf(options)));
        return { status: 200, body: scheduleJson(row) };
      },
    }),
    endpoint({
      ...change,
      method: "DELETE",
      path: "/schedules/:id",
      summary: "Delete a schedule that no code defines; its ledger stays",
      replies: { 200: deleted },
      handle: async ({ params }) => ({ status: 200, body: await answered(deleteSchedule(ports, registry, params.id)) }),
    }),
  ];
}

function pauses({ ports }: ApiOptions): readonly Endpoint[] {
  return ([true, false] as const).map((paused) =>
    endpoint({
      ...change,
      method: "POST",
      path: `/schedules/:id/${paused ? "pause" : "resume"}`,
      summary: paused ? "Skip its times from now on, with the reason" : "Run its times again from now on",
      replies: { 200: schedule },
      async handle({ params }) {
        return { status: 200, body: scheduleJson(await answered(pauseSchedule(ports, params.id, paused))) };
      },
    }),
  );
}

function runs(options: ApiOptions): readonly Endpoint[] {
  const { ports, registry } = options;
  return [
    endpoint({
      ...change,
      method: "POST",
      path: "/schedules/:id/trigger",
      summary: "Run what it runs, now; with a key, at most once",
      body: triggerBody,
      replies: { 200: triggered, 201: triggered },
      async handle({ params, body: { key } }) {
        const made = await answered(triggerSchedule(ports, registry, params.id, { ...optionsOf(options), key }));
        return { status: made.created ? 201 : 200, body: made, location: `/jobs/${made.id}` };
      },
    }),
    endpoint({
      ...change,
      method: "POST",
      path: "/schedules/:id/backfill",
      summary: "Run times of the past that never ran; a dry run only lists them",
      body: backfillBody,
      replies: { 200: backfilled },
      async handle({ params, body: { pace, ...body } }) {
        const asked = { ...body, paceMs: pace ?? null, ...optionsOf(options) };
        return { status: 200, body: backfillJson(await answered(backfill(ports, registry, params.id, asked))) };
      },
    }),
  ];
}

function reads({ ports }: ApiOptions): readonly Endpoint[] {
  const read = { method: "GET", role: "read", params: schedulePath } as const;
  return [
    endpoint({
      ...read,
      path: "/schedules/:id",
      summary: "One schedule with its versions, also after it was deleted",
      replies: { 200: scheduleDetail },
      async handle({ params: { id } }) {
        const facts = await ports.store.scheduleFacts(id);
        if (facts === null) throw problemOf(unknownSchedule(id));
        const { row, eras, ledgerFrom } = facts;
        const versions = eras.map(({ version, spec, fromAt }) => {
          return { version, expression: spec === null ? null : expressionOf(spec.expression), spec, from: iso(fromAt) };
        });
        const now = row === null ? { id, deleted: true } : { ...scheduleJson(row), deleted: false };
        return { status: 200, body: { ...now, ledgerFrom: ledgerFrom === null ? null : iso(ledgerFrom), versions } };
      },
    }),
    endpoint({
      ...read,
      path: "/schedules/:id/next",
      summary: "Its next times, with what clock changes do to them",
      query: nextQuery,
      replies: { 200: nextTimes },
      async handle({ params: { id }, query: { count, after } }) {
        const facts = await ports.store.scheduleFacts(id);
        if (facts === null || facts.row === null) throw problemOf(unknownSchedule(id));
        const { spec, paused } = facts.row;
        const times = preview(spec, after ?? facts.now, count);
        const body = { id: spec.id, enabled: spec.enabled, paused, ...previewJson(spec.timezone, times) };
        return { status: 200, body };
      },
    }),
    endpoint({
      ...read,
      path: "/schedules/:id/explain",
      summary: "What became of one of its times, and why",
      query: explainQuery,
      replies: { 200: explainedTimes },
      async handle({ params: { id }, query: { time } }) {
        const answers = await answered(explain(ports, id, time));
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

const backfillJson = ({ times, ...report }: BackfillReport) => ({
  ...report,
  times: times.map(({ nominalAt, ...time }) => ({ ...time, nominalAt: iso(nominalAt) })),
});

const statuses: Readonly<Record<RefusalCode, 404 | 409 | 422>> = {
  "unknown-schedule": 404,
  "schedule-exists": 409,
  "schedule-in-code": 409,
  "backfill-refused": 409,
  "unknown-kind": 422,
  "invalid-schedule": 422,
  "invalid-time": 422,
};

const problemOf = ({ code, message, problems }: ScheduleRefused): Problem =>
  new Problem(statuses[code], code, message, {
    issues: problems.map(({ field, value, rule, fix }) => {
      return { path: field, message: `${value} ${rule}${fix === "" ? "" : `; ${fix}`}` };
    }),
  });

async function answered<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof ScheduleRefused ? problemOf(error) : error;
  }
}

const iso = (instant: number): string => new Date(instant).toISOString();
