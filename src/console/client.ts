/** Every request of the page. Where the API's shape and the page's differ, they meet here. */
import type { BulkReply } from "../api/shape/bulk.ts";
import type { AuditListReply, LaneListReply, LaneReply, LockReply, SummaryReply } from "../api/shape/overview.ts";
import type { FailureGroupListReply } from "../insight/failure-groups.ts";
import type { SlotUseReply } from "../insight/slots.ts";
import type { RunListReply, RunReply, RunMapReply } from "../api/shape/run.ts";
import type { ScheduleOutcomeListReply, ScheduleOutcomeReply } from "../api/shape/schedule-outcome.ts";
import type { ExplainedTimesReply, ScheduleReply } from "../api/shape/schedule.ts";
import type { CountReply } from "./language/number.ts";
import { words } from "./language/words.ts";
import { correct } from "./clock.ts";
import { ApiError, get, post, query, send } from "./http.ts";
import { loadedMap, type LoadedMap } from "./runs/run-map.ts";
import { myZone } from "./time.ts";
import type { TimeScale } from "./parts/axis.tsx";
import type { NightReply } from "../insight/night.ts";
import type { ScheduleSettings } from "./schedules/when.ts";
import type { AttemptDetailReply, JobCountsReply, JobDetailReply, JobListReply } from "../api/shape/job.ts";
import type { KindFigureListReply } from "../insight/kind-figures.ts";
import type { KindReply } from "../api/shape/kind.ts";
import type { UpcomingReply } from "../api/shape/upcoming.ts";

export type Audit = AuditListReply["audits"][number];
/** Failed jobs that failed alike. */
export type FailureGroupReply = FailureGroupListReply["groups"][number];
/** One schedule with each of its newest and next times. */
export interface TimedOutcome extends ScheduleOutcomeReply {
  readonly times: NonNullable<ScheduleOutcomeReply["times"]>;
}
export type OccurrenceReply = TimedOutcome["times"]["occurrences"][number];
export type Glance = ScheduleOutcomeReply["last"][number];

/** Fields of the filter, as the API calls them. */
export type JobQuery = Readonly<Record<string, string>>;

const at = encodeURIComponent;

export const loadJobs = (filter: JobQuery, page: { cursor: string | null; limit: number }, signal?: AbortSignal) =>
  get<JobListReply>(`/jobs${query({ ...filter, cursor: page.cursor, limit: page.limit })}`, signal);
/** Of each state, whichever states the filter asks for. */
export const countJobs = (filter: JobQuery, signal?: AbortSignal) =>
  get<JobCountsReply>(`/jobs/counts${query({ ...filter, state: null })}`, signal);
export const loadJob = (id: string, signal?: AbortSignal) =>
  get<JobDetailReply>(`/jobs/${at(id)}${query({ include: "explanation" })}`, signal);
export const loadAttempt = (id: string, attempt: number, signal?: AbortSignal) =>
  get<AttemptDetailReply>(`/jobs/${at(id)}/attempts/${attempt}`, signal);
export const retryJob = (id: string) => post<JobDetailReply>(`/jobs/${at(id)}/retry`);
export const cancelJob = (id: string) => post<JobDetailReply>(`/jobs/${at(id)}/cancel`);
export const runJobNow = (id: string) => post<JobDetailReply>(`/jobs/${at(id)}/run-now`);

/** A new job, or the one that has the key. Texts that are empty are left out. */
export const enqueueJob = ({
  kind,
  payload,
  key,
  delay,
}: Readonly<Record<"kind" | "key" | "delay", string>> & { readonly payload: unknown }) =>
  post<{ id: string; created: boolean }>("/jobs", {
    kind,
    payload,
    ...(key === "" ? {} : { key }),
    ...(delay === "" ? {} : { delay }),
  });
export const loadKinds = async (signal?: AbortSignal): Promise<readonly KindReply[]> =>
  (await get<{ kinds: readonly KindReply[] }>("/kinds", signal)).kinds;

/** `minutes`: with the last minutes one by one and the schedules that are in trouble. */
export async function loadSummary(minutes: number | null, signal?: AbortSignal): Promise<SummaryReply> {
  const summary = await get<SummaryReply>(`/summary${query({ minutes })}`, signal);
  correct(summary.at);
  return summary;
}

/** Fields of the filter of schedules, as the API calls them. */
export type OutcomeQuery = Readonly<Record<string, string>>;

export const loadScheduleOutcomes = (
  filter: OutcomeQuery,
  { offset = 0, limit }: { readonly offset?: number; readonly limit: number },
  signal?: AbortSignal,
) =>
  get<ScheduleOutcomeListReply>(
    `/schedule-outcomes${query({ ...filter, cursor: offset === 0 ? null : offset, limit })}`,
    signal,
  );
/** The first ones by id, without outcomes: to complete names with. */
export const loadSomeSchedules = async (limit: number, signal?: AbortSignal): Promise<readonly ScheduleReply[]> =>
  (await get<{ schedules: readonly ScheduleReply[] }>(`/schedules${query({ limit })}`, signal)).schedules;
/** With each of its newest and its next times. @throws ApiError 404 */
export async function loadScheduleOutcome(id: string, signal?: AbortSignal): Promise<TimedOutcome> {
  const { schedules } = await loadScheduleOutcomes({ id, include: "times" }, { limit: 1 }, signal);
  const [{ times, ...schedule } = {}] = schedules;
  if (times === undefined) throw new ApiError(404, "unknown-schedule", words.shared.noSchedule(id));
  return { ...(schedule as ScheduleOutcomeReply), times };
}
export const loadNight = ({ from, to, by }: TimeScale & { readonly by: string }, signal?: AbortSignal) =>
  get<NightReply>(`/night${query({ from: new Date(from).toISOString(), to: new Date(to).toISOString(), by })}`, signal);
export const loadUpcoming = (
  asked: { readonly hours: number; readonly app: string; readonly lane: string },
  signal?: AbortSignal,
) => get<UpcomingReply>(`/upcoming${query(asked)}`, signal);
/** Figures of a period of this many hours, beside those of one that lies `against` hours earlier. */
export const loadKindFigures = (
  asked: { readonly hours: number; readonly against: number; readonly by: string; readonly lane?: string },
  signal?: AbortSignal,
) => get<KindFigureListReply>(`/kind-figures${query(asked)}`, signal);
/** Null for one that was deleted. */
export const loadZone = async (id: string, signal?: AbortSignal): Promise<string | null> =>
  (await get<{ readonly timezone?: string }>(`/schedules/${at(id)}`, signal)).timezone ?? null;
/** One of the next times of a schedule. One that does not fire has a change of the clock that says why. */
export type FireTime = TimedOutcome["times"]["next"][number];
export type ExplainedTime = ExplainedTimesReply["answers"][number];
/** What became of one time, by the schedule's clock. A reading that the clock shows twice has two answers. */
export const loadTimeExplanation = async (id: string, time: string): Promise<readonly ExplainedTime[]> =>
  (await get<ExplainedTimesReply>(`/schedules/${at(id)}/explain${query({ time })}`)).answers;
/** As many as asked for, of an expression that no schedule has yet. */
export const previewTimes = (
  asked: { readonly expression: string; readonly timezone: string; readonly count: number },
  signal?: AbortSignal,
) => get<{ times: readonly FireTime[]; notes: readonly string[]; timezone: string }>(`/preview${query(asked)}`, signal);

export const requestSchedule = (id: string, settings: ScheduleSettings) =>
  post<ScheduleReply>("/schedules", { id, ...settings });
export const changeSchedule = ({ id, version }: Pick<ScheduleReply, "id" | "version">, settings: ScheduleSettings) =>
  send<ScheduleReply>("PATCH", `/schedules/${at(id)}`, settings, version);
export const requestDeletion = ({ id, version }: Pick<ScheduleReply, "id" | "version">) =>
  send<unknown>("DELETE", `/schedules/${at(id)}`, undefined, version);
/** The fixed payload of a schedule; null when its definition computes one for each time. */
export const loadPayload = async (id: string, signal?: AbortSignal): Promise<unknown> => {
  const { versions } = await get<{ versions: readonly { readonly spec: { readonly payload?: unknown } | null }[] }>(
    `/schedules/${at(id)}`,
    signal,
  );
  return versions.at(-1)?.spec?.payload ?? null;
};
/** Its end is by the reader's clock. What is empty is left out. */
export type PauseAnswer = Readonly<Record<string, string>>;
const pauseOf = ({ until = "", reason = "" }: PauseAnswer) => ({
  ...(until === "" ? {} : { until, timezone: myZone }),
  ...(reason === "" ? {} : { reason }),
});
export const requestPause = (id: string, pause: PauseAnswer) =>
  post<ScheduleReply>(`/schedules/${at(id)}/pause`, pauseOf(pause));
export const requestResume = (id: string) => post<ScheduleReply>(`/schedules/${at(id)}/resume`);
export const requestTrigger = (id: string) => post<{ id: string }>(`/schedules/${at(id)}/trigger`);

/** What a backfill would do. */
export interface ShownBackfill {
  readonly times: readonly { readonly nominalAt: string; readonly was: string; readonly runs: boolean }[];
}
export const previewBackfill = (id: string, range: { from: string; to: string }) =>
  post<ShownBackfill>(`/schedules/${at(id)}/backfill`, { ...range, dryRun: true });
export const requestBackfill = (id: string, range: { from: string; to: string }) =>
  post<{ readonly matched: { readonly count: number } }>(`/schedules/${at(id)}/backfill`, range);

export const loadRuns = (
  page: { cursor: string | null; state?: string; kind?: string; key?: string },
  signal?: AbortSignal,
) => get<RunListReply>(`/runs${query({ limit: 50, ...page })}`, signal);
export const loadRun = (id: string, signal?: AbortSignal) => get<RunReply>(`/runs/${at(id)}`, signal);
export const requestRunRetry = (id: string) =>
  post<{ readonly again: readonly string[] } | BulkReply>(`/runs/${at(id)}/retry`);
export const requestRunCancel = (id: string) => post<{ canceled: number }>(`/runs/${at(id)}/cancel`);
export const requestRerun = (id: string) => post<RunReply>(`/runs/${at(id)}/rerun`);

/** A run with all its tasks and its first failures, in one answer. */
export const loadRunMap = async (run: string, signal?: AbortSignal): Promise<LoadedMap> =>
  loadedMap(await get<RunMapReply>(`/runs/${at(run)}/map`, signal));

export const loadFailureGroups = (kind: string | null, signal?: AbortSignal) =>
  get<{ groups: readonly FailureGroupReply[]; isMore: boolean }>(`/dead-letters${query({ kind })}`, signal);
export const loadLanes = (signal?: AbortSignal) => get<LaneListReply>("/lanes", signal);
export const pauseLane = (name: string, pause: PauseAnswer) =>
  post<LaneReply>(`/lanes/${at(name)}/pause`, pauseOf(pause));
export const resumeLane = (name: string) => post<LaneReply>(`/lanes/${at(name)}/resume`);
export const changeCap = (kind: string, size: number) => send<unknown>("PUT", `/caps/${at(kind)}`, { size });
export const loadLocks = (signal?: AbortSignal) =>
  get<{ locks: readonly LockReply[]; jobLocks: readonly SlotUseReply[] }>("/locks", signal);

export const loadAudits = async (target: string, signal?: AbortSignal): Promise<readonly Audit[]> =>
  (await get<{ audits: readonly Audit[] }>(`/audits${query({ target, limit: 50 })}`, signal)).audits;

export type BulkVerb = "retry" | "cancel";

export const countBulk = async (action: BulkVerb, filter: JobQuery): Promise<CountReply> =>
  (await post<{ matched: CountReply }>("/bulk", { action, filter: nested(filter), dryRun: true })).matched;
export const startBulk = (action: BulkVerb, filter: JobQuery) =>
  post<BulkReply>("/bulk", { action, filter: nested(filter) });
export interface Redrive {
  readonly fingerprints: readonly string[];
  /** Null for several. */
  readonly kind: string | null;
  readonly pace: string;
  readonly canary: boolean;
}
const redriveOf = ({ fingerprints, kind, pace, canary }: Redrive) => ({
  filter: { fingerprint: fingerprints, ...(kind === null ? {} : { kind }) },
  ...(pace === "" ? {} : { pace }),
  canary,
});
export const countRedrive = async (redrive: Redrive): Promise<CountReply> =>
  (await post<{ matched: CountReply }>("/dead-letters/redrive", { ...redriveOf(redrive), dryRun: true })).matched;
export const startRedrive = (redrive: Redrive) => post<BulkReply>("/dead-letters/redrive", redriveOf(redrive));
export const loadBulk = (id: string) => get<BulkReply>(`/bulk/${at(id)}`);
export const requestBulkStop = (id: string) => post<BulkReply>(`/bulk/${at(id)}/stop`);

/** A body has the members of the payload in an object of their own. */
function nested(filter: JobQuery): Readonly<Record<string, unknown>> {
  const fields = Object.entries(filter);
  const members = fields.filter(([name]) => name.startsWith("payload."));
  return {
    ...Object.fromEntries(fields.filter(([name]) => !name.startsWith("payload."))),
    ...(members.length === 0
      ? {}
      : { payload: Object.fromEntries(members.map(([name, value]) => [name.slice("payload.".length), value])) }),
  };
}
