import { iso } from "../../core/job/units.ts";
import type { z } from "zod";
import { backfill, type BackfillEntry } from "../../core/admin/backfill.ts";
import {
  createSchedule,
  deleteSchedule,
  pauseSchedule,
  type ScheduleInput,
  triggerSchedule,
  updateSchedule,
} from "../../core/admin/schedule-control.ts";
import { ScheduleRefused, unknownSchedule } from "../../core/scheduler/schedule-refused.ts";
import type { ScheduleRow } from "../../core/ports/schedule.ts";
import { bulkBeginner } from "../bulk-runner.ts";
import { etagOf, wantedVersions } from "../conditional.ts";
import { type Endpoint, endpoint } from "../endpoint.ts";
import type { Answer } from "../json-answer.ts";
import { patched } from "../patched-schedule.ts";
import { startableKind } from "../startable-kind.ts";
import { bulk } from "../shape/bulk.ts";
import { backfillPreview, deleted, schedule, triggered } from "../shape/schedule.ts";
import type { ApiOptions } from "../options.ts";
import {
  backfillBody,
  changedScheduleBody,
  newScheduleBody,
  patchedScheduleBody,
  triggerBody,
} from "../schedule-query.ts";
import { answered } from "../schedule-refusal.ts";
import { ofSchedule } from "../scope.ts";
import { scheduleJson } from "../view.ts";
import { schedulePath, scheduleReadEndpoints } from "./schedule-reads.ts";
import { pauseAsked, pauseBody } from "../pause-query.ts";

/**
 * POST /schedules, PUT and DELETE /schedules/:id, POST /schedules/:id/{pause,resume,trigger,backfill},
 * GET /schedules/:id, its /next and /explain. What code defines is only paused, resumed, triggered and backfilled here.
 */
export function scheduleControlEndpoints(options: ApiOptions): readonly Endpoint[] {
  return [
    ...writes(options),
    ...patches(options),
    ...pauses(options),
    ...runs(options),
    ...scheduleReadEndpoints(options),
  ];
}

const optionsOf = ({ stage }: ApiOptions) => ({ stage: stage ?? "dev" });
const changeOf = (options: ApiOptions) => ({ scope: ofSchedule(options), params: schedulePath }) as const;

function writes(options: ApiOptions): readonly Endpoint[] {
  const { ports, registry } = options;
  const change = changeOf(options);
  return [
    endpoint("POST /schedules", {
      name: "createSchedule",
      refuses: ["schedule-exists", "schedule-in-code", "unknown-kind", "not-startable", "invalid-schedule"],
      summary: "Make a schedule that no code defines",
      scope: ({ body }) => ({ kinds: [body.kind] }),
      body: newScheduleBody,
      replies: { 201: schedule },
      async handle({ body }) {
        startableKind(registry, body.kind);
        const row = await answered(createSchedule(ports, registry, body as ScheduleInput, optionsOf(options)));
        return {
          ...(await versioned(options, row)),
          status: 201,
          location: `/schedules/${encodeURIComponent(row.id)}`,
        };
      },
    }),
    endpoint("PUT /schedules/:id", {
      ...change,
      name: "replaceSchedule",
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
        const input = { ...body, id: params.id } as ScheduleInput;
        const how = { ...optionsOf(options), ...wantedVersions(request) };
        return await versioned(options, await answered(updateSchedule(ports, registry, input, how)));
      },
    }),
    endpoint("DELETE /schedules/:id", {
      ...change,
      name: "deleteSchedule",
      refuses: ["unknown-schedule", "schedule-in-code", "version-changed"],
      summary: "Delete a schedule that no code defines; its ledger stays",
      hasVersion: true,
      replies: { 200: deleted },
      async handle({ params, request }) {
        const removed = deleteSchedule(ports, registry, params.id, wantedVersions(request));
        return { status: 200, body: await answered(removed) };
      },
    }),
  ];
}

function patches(options: ApiOptions): readonly Endpoint[] {
  return [
    endpoint("PATCH /schedules/:id", {
      ...changeOf(options),
      name: "patchSchedule",
      refuses: [
        ...(["unknown-schedule", "schedule-in-code", "version-changed"] as const),
        ...(["unknown-kind", "not-startable", "invalid-schedule"] as const),
      ],
      summary: "Change some settings of a schedule that no code defines",
      body: patchedScheduleBody,
      hasVersion: true,
      replies: { 200: schedule },
      handle: async ({ params, body, request }) =>
        await versioned(
          options,
          await answered(
            patchSchedule(options, params.id, body, wantedVersions(request).ifVersions),
            body.payload === undefined ? kindOf(options, params.id) : undefined,
          ),
        ),
    }),
  ];
}

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
  body: Parameters<typeof patched>[1],
  wanted?: readonly number[],
): Promise<ScheduleRow> {
  const { ports, registry } = options;
  for (let round = 1; ; round += 1) {
    const row = (await ports.store.scheduleFacts(id))?.row ?? null;
    if (row === null) throw unknownSchedule(id);
    const input = patched(row.spec, body);
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

function pauses(options: ApiOptions): readonly Endpoint[] {
  const { ports } = options;
  const change = changeOf(options);
  return [
    endpoint("POST /schedules/:id/pause", {
      ...change,
      name: "pauseSchedule",
      refuses: ["unknown-schedule", "invalid-time"],
      summary: "Skip its times from now on, until it is resumed or to an end",
      body: pauseBody,
      replies: { 200: schedule },
      async handle({ params, body, caller }) {
        const pause = pauseAsked(body, caller.name, await ports.store.now());
        return await versioned(options, await answered(pauseSchedule(ports, params.id, pause)));
      },
    }),
    endpoint("POST /schedules/:id/resume", {
      ...change,
      name: "resumeSchedule",
      refuses: ["unknown-schedule"],
      summary: "Run its times again from now on",
      replies: { 200: schedule },
      handle: async ({ params }) => await versioned(options, await answered(pauseSchedule(ports, params.id, null))),
    }),
  ];
}

function runs(options: ApiOptions): readonly Endpoint[] {
  const { ports, registry } = options;
  const change = changeOf(options);
  const begin = backfiller(options);
  return [
    endpoint("POST /schedules/:id/trigger", {
      ...change,
      name: "triggerSchedule",
      refuses: ["unknown-schedule", "unknown-kind", "invalid-schedule", "key-held"],
      summary: "Run what it runs, now; with a key, at most once",
      body: triggerBody,
      takesKey: true,
      replies: { 200: triggered, 201: triggered },
      async handle({ params, body: { key } }) {
        const making = triggerSchedule(ports, registry, params.id, { ...optionsOf(options), key });
        const made = await answered(making, kindOf(options, params.id));
        const unchanged = made.created ? {} : ({ unchanged: true } as const);
        return { status: made.created ? 201 : 200, body: made, location: `/jobs/${made.id}`, ...unchanged };
      },
    }),
    endpoint("POST /schedules/:id/backfill", {
      ...change,
      name: "backfillSchedule",
      refuses: ["unknown-schedule", "backfill-refused", "unknown-kind", "invalid-time"],
      summary: "Run times of the past that never ran; a dry run only lists them",
      body: backfillBody,
      replies: { 200: backfillPreview, 202: bulk },
      handle: ({ params: { id }, body, caller, shown }) => begin(id, { ...body, caller: caller.name, shown }),
    }),
  ];
}

/** Judges the times and answers; this process, or the next pass, then plans them. */
function backfiller(options: ApiOptions) {
  const { ports, registry } = options;
  const begin = bulkBeginner(options);
  type Asked = z.infer<typeof backfillBody> & { readonly caller: string; shown(value: unknown): Promise<unknown> };
  return async (id: string, { caller, shown, pace, ...asked }: Asked): Promise<Answer> => {
    const how = { ...asked, dryRun: true, paceMs: pace ?? null, ...optionsOf(options) };
    const { times, failed, paceMs } = await answered(backfill(ports, registry, id, how));
    if (asked.dryRun) {
      const seen = (await shown(failed)) as typeof failed;
      const texts = seen.map(({ localTime, message }) => `${localTime}: ${message}`);
      return { status: 200, body: { dryRun: true, times: times.map(timeJson), failed: texts, paceMs } };
    }
    const kind = await kindOf(options, id)();
    return await begin({
      action: "backfill",
      search: { scheduleId: id, ...(kind === null ? {} : { kind }), ...spanOf(times, asked.to) },
      caller,
      matched: { count: times.filter(({ runs: isWanted }) => isWanted).length, isMore: false },
      paceMs,
      canary: false,
    });
  };
}

/** From the first to the last time that was judged: others, of before its ledger or since then, are not planned. */
const spanOf = (times: readonly BackfillEntry[], end: number) => ({
  dueFrom: times[0]?.nominalAt ?? end,
  dueTo: times.at(-1)?.nominalAt ?? end,
});

const timeJson = ({ nominalAt, ...time }: BackfillEntry) => ({ ...time, nominalAt: iso(nominalAt) });
