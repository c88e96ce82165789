import { iso } from "../../machine/units.ts";
import type { z } from "zod";
import { backfill, type BackfillEntry } from "../../insight/backfill.ts";
import {
  createSchedule,
  deleteSchedule,
  pauseSchedule,
  type ScheduleInput,
  triggerSchedule,
  updateSchedule,
} from "../../insight/schedule-control.ts";
import { ScheduleRefused, unknownSchedule } from "../../schedule/schedule-refused.ts";
import type { KeyedRequest } from "../../insight/request-key.ts";
import type { ScheduleRow } from "../../machine/schedule.ts";
import { bulkBeginner } from "../bulk-runner.ts";
import { etagOf, wantedVersions } from "../conditional.ts";
import { type RequestOf, endpoint } from "../endpoint.ts";
import type { Answer } from "../json-answer.ts";
import { applyPatch } from "../patched-schedule.ts";
import { startableKind } from "../startable-kind.ts";
import { bulk } from "../shape/bulk.ts";
import { backfillPreview, scheduleDeletion, schedule, scheduleTrigger } from "../shape/schedule.ts";
import { once } from "../once.ts";
import type { ApiOptions } from "../options.ts";
import {
  backfillBody,
  changedScheduleBody,
  newScheduleBody,
  patchedScheduleBody,
  triggerBody,
} from "../schedule-query.ts";
import { withRefusals } from "../schedule-refusal.ts";
import { scheduleJson } from "../view.ts";
import { ofOneSchedule, scheduleReadEndpoints } from "./schedules.ts";
import { pauseFrom, pauseBody } from "../pause-query.ts";

/**
 * POST /schedules, PUT and DELETE /schedules/:id, POST /schedules/:id/{pause,resume,trigger,backfill},
 * GET /schedules/:id, its /next and /explain. What code defines is only paused, resumed, triggered and backfilled here.
 */
export function scheduleControlEndpoints(options: ApiOptions) {
  return [
    ...writes(options),
    patches(options),
    ...pauses(options),
    ...runs(options),
    ...scheduleReadEndpoints(options),
  ];
}

const optionsOf = ({ stage }: ApiOptions) => ({ stage: stage ?? "dev" });

const changeRefusals = [
  ...(["unknown-schedule", "schedule-in-code", "version-changed"] as const),
  ...(["unknown-kind", "not-startable", "invalid-schedule"] as const),
];

function writes(options: ApiOptions) {
  const { ports, registry } = options;
  const change = ofOneSchedule(options);
  return [
    endpoint("POST /schedules", {
      name: "createSchedule",
      refuses: ["schedule-exists", "schedule-in-code", "unknown-kind", "not-startable", "invalid-schedule"],
      summary: "Make a schedule that no code defines",
      description: "Beside those in code. Exactly one of `cron`, `every` and `at` says when it fires.",
      example: { body: { id: "nightly", kind: "hello", cron: "30 2 * * *", timezone: "Europe/Berlin" } },
      scope: ({ body }) => ({ kinds: [body.kind] }),
      body: newScheduleBody,
      byKind: "NewSchedule",
      replies: { 201: schedule },
      async handle({ body }) {
        startableKind(registry, body.kind);
        const row = await withRefusals(createSchedule(ports, registry, body as ScheduleInput, optionsOf(options)));
        const location = `/schedules/${encodeURIComponent(row.id)}`;
        return { ...(await versioned(options, row)), status: 201, location };
      },
    }),
    endpoint("PUT /schedules/:id", {
      ...change,
      name: "replaceSchedule",
      refuses: changeRefusals,
      summary: "Change a schedule that no code defines",
      description:
        "A new version from now on, with all its settings; what was planned after now is withdrawn. `If-Match` refuses a version that is not yours.",
      example: { params: { id: "nightly" }, body: { kind: "hello", cron: "0 3 * * *", timezone: "Europe/Berlin" } },
      body: changedScheduleBody,
      byKind: "ScheduleSettings",
      hasVersion: true,
      replies: { 200: schedule },
      async handle({ params, body, request }) {
        startableKind(registry, body.kind);
        const input = { ...body, id: params.id } as ScheduleInput;
        const how = { ...optionsOf(options), ...wantedVersions(request) };
        return await versioned(options, await withRefusals(updateSchedule(ports, registry, input, how)));
      },
    }),
    endpoint("DELETE /schedules/:id", {
      ...change,
      name: "deleteSchedule",
      refuses: ["unknown-schedule", "schedule-in-code", "version-changed"],
      summary: "Delete a schedule that no code defines; its ledger stays",
      description:
        "Nothing of it starts any more, and the next passes cancel its jobs that wait. Its ledger and versions stay readable.",
      hasVersion: true,
      replies: { 200: scheduleDeletion },
      reply: ({ params, request }) => withRefusals(deleteSchedule(ports, registry, params.id, wantedVersions(request))),
    }),
  ];
}

const patches = (options: ApiOptions) =>
  endpoint("PATCH /schedules/:id", {
    ...ofOneSchedule(options),
    name: "patchSchedule",
    refuses: changeRefusals,
    summary: "Change some settings of a schedule that no code defines",
    description:
      "A new version that differs in the settings given. One of `cron`, `every` and `at` replaces whichever it has; `unset` takes settings away.",
    example: { params: { id: "nightly" }, body: { cron: "0 4 * * *" } },
    body: patchedScheduleBody,
    hasVersion: true,
    replies: { 200: schedule },
    async handle({ params: { id }, body, request }) {
      const patched = patchSchedule(options, id, body, wantedVersions(request).ifVersions);
      const quotes = body.payload === undefined ? kindOf(options, id) : undefined;
      return await versioned(options, await withRefusals(patched, quotes));
    },
  });

/** What it runs now: a refusal of a change that gives no payload may quote the stored one. */
const kindOf =
  ({ ports }: ApiOptions, id: string) =>
  async (): Promise<string | null> =>
    (await ports.store.scheduleFacts(id))?.row?.spec.job.kind ?? null;

async function versioned({ ports }: ApiOptions, row: ScheduleRow) {
  return { status: 200, body: scheduleJson(row, await ports.store.now()), etag: etagOf(row.version) } as const;
}

const patchRoundsMax = 5;

/** Settings that are not given stay as they stand, so it is written for the version that was read, or read again. */
async function patchSchedule(
  options: ApiOptions,
  id: string,
  body: Parameters<typeof applyPatch>[1],
  wanted?: readonly number[],
): Promise<ScheduleRow> {
  const { ports, registry } = options;
  for (let round = 1; ; round += 1) {
    const row = (await ports.store.scheduleFacts(id))?.row ?? null;
    if (row === null) throw unknownSchedule(id);
    const input = applyPatch(row.spec, body);
    startableKind(registry, input.kind);
    const ifVersions = [row.version].filter((version) => wanted?.includes(version) ?? true);
    try {
      return await updateSchedule(ports, registry, input, { ...optionsOf(options), ifVersions });
    } catch (error) {
      const isOvertaken = error instanceof ScheduleRefused && error.code === "version-changed" && wanted === undefined;
      if (!isOvertaken || round === patchRoundsMax) throw error;
    }
  }
}

function pauses(options: ApiOptions) {
  const { ports } = options;
  const change = ofOneSchedule(options);
  return [
    endpoint("POST /schedules/:id/pause", {
      ...change,
      name: "pauseSchedule",
      refuses: ["unknown-schedule", "invalid-time"],
      summary: "Skip its times from now on, until it is resumed or to an end",
      description:
        "Its times are SKIPPED from now on. Decided at claim, so it also stops what is queued. With `until` the pause ends by itself. The same pause again changes nothing.",
      example: { params: { id: "nightly" }, body: { until: "2h", reason: "the source is being moved" } },
      body: pauseBody,
      replies: { 200: schedule },
      async handle({ params, body, caller }) {
        const pause = pauseFrom(body, caller.name, await ports.store.now());
        return await versioned(options, await withRefusals(pauseSchedule(ports, params.id, pause)));
      },
    }),
    endpoint("POST /schedules/:id/resume", {
      ...change,
      name: "resumeSchedule",
      summary: "Run its times again from now on",
      replies: { 200: schedule },
      handle: async ({ params }) => await versioned(options, await withRefusals(pauseSchedule(ports, params.id, null))),
    }),
  ];
}

function runs(options: ApiOptions) {
  const { ports, registry } = options;
  const change = ofOneSchedule(options);
  const begin = backfiller(options);
  return [
    endpoint("POST /schedules/:id/trigger", {
      ...change,
      name: "triggerSchedule",
      refuses: ["unknown-schedule", "unknown-kind", "invalid-schedule", "key-held"],
      summary: "Run what it runs, now; with a key, at most once",
      description: "One job now, beside its times and also while it is paused. With a key, at most once.",
      example: { params: { id: "nightly" }, body: { key: "by-hand-0815" } },
      body: triggerBody,
      takesKey: true,
      replies: { 200: scheduleTrigger, 201: scheduleTrigger },
      async handle({ params, body: { key } }) {
        const making = triggerSchedule(ports, registry, params.id, { key });
        const made = await withRefusals(making, kindOf(options, params.id));
        const unchanged = made.created ? {} : ({ unchanged: true } as const);
        return { status: made.created ? 201 : 200, body: made, location: `/jobs/${made.id}`, ...unchanged };
      },
    }),
    endpoint("POST /schedules/:id/backfill", {
      ...change,
      name: "backfillSchedule",
      refuses: ["unknown-schedule", "backfill-refused", "unknown-kind", "invalid-time", "key-conflict"],
      summary: "Run times of the past that never ran, with a key at most once; a dry run only lists them",
      description:
        "Makes the jobs of past nominal times that never ran, each by the version in force then. Never makes one twice. It is a bulk action: `getBulk` says how far it is, `stopBulk` ends it; `refused` counts times for which no payload could be made. The same request with the same key answers the same bulk action.",
      example: {
        params: { id: "nightly" },
        body: { from: "2026-11-20T00:00:00Z", to: "2026-11-21T00:00:00Z", force: true, dryRun: true },
      },
      body: backfillBody,
      takesKey: true,
      replies: { 200: backfillPreview, 202: bulk },
      handle: begin,
    }),
  ];
}

/** Judges the times and answers; this process, or the next pass, then plans them. */
function backfiller(options: ApiOptions) {
  const { ports, registry } = options;
  const bulks = bulkBeginner(options);
  type BackfillAsked = RequestOf<{ readonly id: string }, undefined, z.infer<typeof backfillBody>>;
  return async (asked: BackfillAsked): Promise<Answer> => {
    const { id } = asked.params;
    const { pace, key: _key, ...span } = asked.body;
    const judge = () => withRefusals(backfill(ports, registry, id, { ...span, dryRun: true, paceMs: pace ?? null }));
    if (span.dryRun) {
      const { times, failed, paceMs } = await judge();
      const seen = (await asked.shown(failed)) as typeof failed;
      const texts = seen.map(({ localTime, message }) => `${localTime}: ${message}`);
      return { status: 200, body: { dryRun: true, times: times.map(timeJson), failed: texts, paceMs } };
    }
    const make = async (request?: KeyedRequest): Promise<Answer> => {
      const { times, paceMs } = await judge();
      const kind = await kindOf(options, id)();
      const search = { scheduleId: id, ...(kind === null ? {} : { kind }), ...spanOf(times, span.to) };
      const matched = { count: times.filter(({ runs: isWanted }) => isWanted).length, isMore: false };
      const caller = asked.caller.name;
      return await bulks.begin({ action: "backfill", search, caller, matched, paceMs, steps: [] }, request);
    };
    return await once(options, { name: "backfillSchedule", asked, make, again: bulks.again });
  };
}

/** From the first to the last time that was judged: others, of before its ledger or since then, are not planned. */
const spanOf = (times: readonly BackfillEntry[], end: number) => ({
  dueFrom: times[0]?.nominalAt ?? end,
  dueTo: times.at(-1)?.nominalAt ?? end,
});

const timeJson = ({ nominalAt, ...time }: BackfillEntry) => ({ ...time, nominalAt: iso(nominalAt) });
