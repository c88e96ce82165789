import { Hono } from "hono";
import { backfill, type BackfillReport } from "../core/schedules/backfill.ts";
import { explain, type Explained } from "../core/schedules/explain.ts";
import { preview } from "../core/schedules/preview.ts";
import {
  createSchedule,
  deleteSchedule,
  pauseSchedule,
  type ScheduleInput,
  triggerSchedule,
  updateSchedule,
} from "../core/schedules/schedule-control.ts";
import { type RefusalCode, ScheduleRefused, unknownSchedule } from "../core/schedules/schedule-refused.ts";
import type { ApiOptions } from "./options.ts";
import { readJson } from "./body.ts";
import { previewJson } from "./preview.ts";
import { Problem } from "./problem.ts";
import { readBody, readQuery } from "./query.ts";
import {
  backfillBody,
  changedScheduleBody,
  explainQuery,
  newScheduleBody,
  nextQuery,
  triggerBody,
} from "./schedule-query.ts";
import { jobJson, occurrenceJson, scheduleJson } from "./view.ts";

/**
 * POST /, PUT /:id, DELETE /:id, POST /:id/{pause,resume,trigger,backfill}, GET /:id, /:id/next and /:id/explain.
 * What code defines is only paused, resumed, triggered and backfilled here.
 */
export function scheduleControl(options: ApiOptions): Hono {
  const routes = new Hono();
  writes(routes, options);
  runs(routes, options);
  reads(routes, options);
  return routes;
}

const optionsOf = ({ stage, lookAheadMs }: ApiOptions) => ({ stage: stage ?? "dev", lookAheadMs });

function writes(routes: Hono, options: ApiOptions): void {
  const { ports, registry } = options;
  routes.post("/", async (c) => {
    const input = readBody(await readJson(c.req.raw), newScheduleBody) as ScheduleInput;
    const row = await answered(createSchedule(ports, registry, input, optionsOf(options)));
    return c.json(scheduleJson(row), 201, { location: `/schedules/${row.id}` });
  });
  routes.put("/:id", async (c) => {
    const body = readBody(await readJson(c.req.raw), changedScheduleBody);
    const input = { ...body, id: c.req.param("id") } as ScheduleInput;
    return c.json(scheduleJson(await answered(updateSchedule(ports, registry, input, optionsOf(options)))));
  });
  routes.delete("/:id", async (c) => c.json(await answered(deleteSchedule(ports, c.req.param("id")))));
  routes.post("/:id/pause", async (c) =>
    c.json(scheduleJson(await answered(pauseSchedule(ports, c.req.param("id"), true)))),
  );
  routes.post("/:id/resume", async (c) =>
    c.json(scheduleJson(await answered(pauseSchedule(ports, c.req.param("id"), false)))),
  );
}

function runs(routes: Hono, options: ApiOptions): void {
  const { ports, registry } = options;
  routes.post("/:id/trigger", async (c) => {
    const { key } = readBody(await readJson(c.req.raw), triggerBody);
    const made = await answered(triggerSchedule(ports, registry, c.req.param("id"), { ...optionsOf(options), key }));
    return c.json(made, made.created ? 201 : 200, { location: `/jobs/${made.id}` });
  });
  routes.post("/:id/backfill", async (c) => {
    const { pace, ...body } = readBody(await readJson(c.req.raw), backfillBody);
    const asked = { ...body, paceMs: pace ?? null, ...optionsOf(options) };
    return c.json(backfillJson(await answered(backfill(ports, registry, c.req.param("id"), asked))));
  });
}

function reads(routes: Hono, { ports }: ApiOptions): void {
  routes.get("/:id", async (c) => {
    const facts = await ports.store.scheduleFacts(c.req.param("id"));
    if (facts === null) throw problemOf(unknownSchedule(c.req.param("id")));
    const { row, eras, ledgerFrom } = facts;
    const versions = eras.map(({ version, spec, fromAt }) => ({ version, spec, from: iso(fromAt) }));
    const now = row === null ? { id: c.req.param("id"), deleted: true } : { ...scheduleJson(row), deleted: false };
    return c.json({ ...now, ledgerFrom: ledgerFrom === null ? null : iso(ledgerFrom), versions });
  });
  routes.get("/:id/next", async (c) => {
    const { count, after } = readQuery(c, nextQuery);
    const facts = await ports.store.scheduleFacts(c.req.param("id"));
    if (facts === null || facts.row === null) throw problemOf(unknownSchedule(c.req.param("id")));
    const { spec, paused } = facts.row;
    const times = preview(spec, after ?? facts.now, count);
    return c.json({ id: spec.id, enabled: spec.enabled, paused, ...previewJson(spec.timezone, times) });
  });
  routes.get("/:id/explain", async (c) => {
    const { time } = readQuery(c, explainQuery);
    const answers = await answered(explain(ports, c.req.param("id"), time));
    const now = await ports.store.now();
    return c.json({ answers: answers.map((answer) => explainedJson(answer, now)) });
  });
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
