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
import { ScheduleRefused, unknownSchedule } from "../../core/scheduler/schedule-refused.ts";
import { z } from "zod";
import type { ScheduleRow } from "../../core/ports/schedule.ts";
import { assertVersion, etagOf } from "../conditional.ts";
import { type Endpoint, endpoint } from "../endpoint.ts";
import { patched } from "../patched-schedule.ts";
import { startableKind } from "../startable-kind.ts";
import { text } from "../query-fields.ts";
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
import { HttpProblem } from "../problem.ts";
import {
  backfillBody,
  changedScheduleBody,
  explainQuery,
  newScheduleBody,
  nextQuery,
  patchedScheduleBody,
  triggerBody,
} from "../schedule-query.ts";
import { expressionOf, jobJson, occurrenceJson, scheduleJson } from "../view.ts";

const schedulePath = z.object({ id: text(200) });

/**
 * POST /schedules, PUT and DELETE /schedules/:id, POST /schedules/:id/{pause,resume,trigger,backfill},
 * GET /schedules/:id, its /next and /explain. What code defines is only paused, resumed, triggered and backfilled here.
 */
export function scheduleControlEndpoints(options: ApiOptions): readonly Endpoint[] {
  return [...writes(options), ...patches(options), ...pauses(options), ...runs(options), ...reads(options)];
}

const optionsOf = ({ stage, dispatchWindowMs }: ApiOptions) => ({ stage: stage ?? "dev", dispatchWindowMs });
const change = { role: "operate", params: schedulePath } as const;

function writes(options: ApiOptions): readonly Endpoint[] {
  const { ports, registry } = options;
  return [
    endpoint({
      method: "POST",
      name: "createSchedule",
      path: "/schedules",
      refuses: ["schedule-exists", "schedule-in-code", "unknown-kind", "not-startable", "invalid-schedule"],
      summary: "Make a schedule that no code defines",
      role: "operate",
      body: newScheduleBody,
      replies: { 201: schedule },
      async handle({ body }) {
        startableKind(registry, body.kind);
        const row = await answered(createSchedule(ports, registry, body as ScheduleInput, optionsOf(options)));
        return { ...versioned(row), status: 201, location: `/schedules/${encodeURIComponent(row.id)}` };
      },
    }),
    endpoint({
      ...change,
      method: "PUT",
      name: "replaceSchedule",
      path: "/schedules/:id",
      refuses: [
        "unknown-schedule",
        "schedule-in-code",
        "version-changed",
        "unknown-kind",
        "not-startable",
        "invalid-schedule",
      ],
      summary: "Change a schedule that no code defines",
      body: changedScheduleBody,
      hasVersion: true,
      replies: { 200: schedule },
      async handle({ params, body, request }) {
        startableKind(registry, body.kind);
        if (request.headers.has("if-match")) await storedSchedule(options, params.id, request);
        const input = { ...body, id: params.id } as ScheduleInput;
        return versioned(await answered(updateSchedule(ports, registry, input, optionsOf(options))));
      },
    }),
    endpoint({
      ...change,
      method: "DELETE",
      name: "deleteSchedule",
      path: "/schedules/:id",
      refuses: ["unknown-schedule", "schedule-in-code", "version-changed"],
      summary: "Delete a schedule that no code defines; its ledger stays",
      hasVersion: true,
      replies: { 200: deleted },
      async handle({ params, request }) {
        if (request.headers.has("if-match")) await storedSchedule(options, params.id, request);
        return { status: 200, body: await answered(deleteSchedule(ports, registry, params.id)) };
      },
    }),
  ];
}

function patches(options: ApiOptions): readonly Endpoint[] {
  const { ports, registry } = options;
  return [
    endpoint({
      ...change,
      method: "PATCH",
      name: "patchSchedule",
      path: "/schedules/:id",
      refuses: [
        ...(["unknown-schedule", "schedule-in-code", "version-changed"] as const),
        ...(["unknown-kind", "not-startable", "invalid-schedule"] as const),
      ],
      summary: "Change some settings of a schedule that no code defines",
      body: patchedScheduleBody,
      hasVersion: true,
      replies: { 200: schedule },
      async handle({ params, body, request }) {
        const row = await storedSchedule(options, params.id, request);
        const input = patched(row.spec, body);
        startableKind(registry, input.kind);
        return versioned(await answered(updateSchedule(ports, registry, input, optionsOf(options))));
      },
    }),
  ];
}

const versioned = (row: ScheduleRow) => ({ status: 200, body: scheduleJson(row), etag: etagOf(row.version) }) as const;

/** As it stands, and as the request's `If-Match` wants it. @throws HttpProblem 404 or 412 */
async function storedSchedule({ ports }: ApiOptions, id: string, request: Request): Promise<ScheduleRow> {
  const facts = await ports.store.scheduleFacts(id);
  if (facts === null || facts.row === null) throw problemOf(unknownSchedule(id));
  assertVersion(request, id, facts.row.version);
  return facts.row;
}

function pauses({ ports }: ApiOptions): readonly Endpoint[] {
  return ([true, false] as const).map((paused) =>
    endpoint({
      ...change,
      method: "POST",
      name: paused ? "pauseSchedule" : "resumeSchedule",
      path: `/schedules/:id/${paused ? "pause" : "resume"}`,
      refuses: ["unknown-schedule"],
      summary: paused ? "Skip its times from now on, with the reason" : "Run its times again from now on",
      replies: { 200: schedule },
      async handle({ params }) {
        return versioned(await answered(pauseSchedule(ports, params.id, paused)));
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
      name: "triggerSchedule",
      path: "/schedules/:id/trigger",
      refuses: ["unknown-schedule", "unknown-kind", "invalid-schedule", "key-held"],
      summary: "Run what it runs, now; with a key, at most once",
      body: triggerBody,
      takesKey: true,
      replies: { 200: triggered, 201: triggered },
      async handle({ params, body: { key } }) {
        const made = await answered(triggerSchedule(ports, registry, params.id, { ...optionsOf(options), key }));
        const unchanged = made.created ? {} : ({ unchanged: true } as const);
        return { status: made.created ? 201 : 200, body: made, location: `/jobs/${made.id}`, ...unchanged };
      },
    }),
    endpoint({
      ...change,
      method: "POST",
      name: "backfillSchedule",
      path: "/schedules/:id/backfill",
      refuses: ["unknown-schedule", "backfill-refused", "unknown-kind", "invalid-time"],
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
      name: "getSchedule",
      path: "/schedules/:id",
      refuses: ["unknown-schedule"],
      summary: "One schedule with its versions, also after it was deleted",
      hasVersion: true,
      replies: { 200: scheduleDetail },
      async handle({ params: { id } }) {
        const facts = await ports.store.scheduleFacts(id);
        if (facts === null) throw problemOf(unknownSchedule(id));
        const { row, eras, ledgerFrom } = facts;
        const versions = eras.map(({ version, spec, fromAt }) => {
          return { version, expression: spec === null ? null : expressionOf(spec.expression), spec, from: iso(fromAt) };
        });
        const now = row === null ? { id, deleted: true } : { ...scheduleJson(row), deleted: false };
        const body = { ...now, ledgerFrom: ledgerFrom === null ? null : iso(ledgerFrom), versions };
        return { status: 200, body, ...(row === null ? {} : { etag: etagOf(row.version) }) };
      },
    }),
    endpoint({
      ...read,
      name: "nextTimes",
      path: "/schedules/:id/next",
      refuses: ["unknown-schedule"],
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
      name: "explainTime",
      path: "/schedules/:id/explain",
      refuses: ["unknown-schedule", "invalid-time"],
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

const problemOf = ({ code, message, problems }: ScheduleRefused): HttpProblem =>
  new HttpProblem(code, message, {
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
