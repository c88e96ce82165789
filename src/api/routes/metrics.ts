import { type ObjectiveStand, readObjectives } from "../../insight/objectives.ts";
import { type Live, readLive } from "../../insight/live.ts";
import { archiveLag } from "../../insight/archived.ts";
import { readFailures } from "../../insight/failures.ts";
import { durationBuckets, type Histogram, type KindTotal, readKindTotals } from "../../insight/kind-totals.ts";
import type { AttemptOutcome } from "../../machine/job.ts";
import { oneRow } from "../../insight/sql-query.ts";
import { endpoint } from "../endpoint.ts";
import type { ApiOptions } from "../options.ts";

/** GET /metrics: totals by kind of job in the text format of Prometheus. They are added up in the background, a second or two late. */
export function metricsEndpoint({ insight, registry }: ApiOptions) {
  return endpoint("GET /metrics", {
    name: "getMetrics",
    summary: "Totals by kind of job in the text format of Prometheus",
    scope: "everything",
    replies: {},
    streams: "text/plain",
    async handle() {
      const [totals, live, failures, lags, { objectives }] = await Promise.all([
        insight.run(readKindTotals, {}),
        readLive(insight),
        oneRow(insight, readFailures, {}),
        insight.run(archiveLag, {}),
        readObjectives(insight, { isWhole: false }),
      ]);
      const measured = { totals, live, failures, lags, objectives };
      const text = metricsText(measured, (kind) => registry.jobs.get(kind)?.lane ?? "");
      return new Response(text, { headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" } });
    },
  });
}

export interface Measured {
  readonly totals: readonly KindTotal[];
  readonly live: Live;
  readonly failures: { readonly jobs: Readonly<Record<string, number>>; readonly dead: number; readonly runs: number };
  readonly lags: readonly { readonly part: string; readonly lagMs: number }[];
  readonly objectives: readonly ObjectiveStand[];
}

/** @param laneOf of a kind; empty for one that no app knows any more. */
export function metricsText(
  { totals, live, failures, lags, objectives }: Measured,
  laneOf: (kind: string) => string,
): string {
  // Not `job`: Prometheus has a label of that name for what it scrapes, and would rename ours.
  const labelsOf = ({ kind }: KindTotal): Labels => ({ kind, lane: laneOf(kind) });
  const counter = (name: string, help: string, of: (total: KindTotal) => number): readonly string[] => [
    ...head(name, "counter", help),
    ...totals.map((total) => sample(name, labelsOf(total), of(total))),
  ];
  return [
    ...head("scheduler_execution_time_seconds", "histogram", "How long attempts took, by how they ended."),
    ...totals.flatMap((total) => executions("scheduler_execution_time_seconds", total, labelsOf(total))),
    ...head("belfry_start_lateness_seconds", "histogram", "How long after they were due jobs started."),
    ...totals.flatMap((total) => histogram("belfry_start_lateness_seconds", labelsOf(total), total.starts)),
    ...head("belfry_attempts_total", "counter", "Attempts, by how they ended."),
    ...totals.flatMap((total) =>
      attempts(total).map(([status, count]) => sample("belfry_attempts_total", { ...labelsOf(total), status }, count)),
    ),
    ...counter("belfry_jobs_created_total", "Jobs that were enqueued.", (t) => t.created),
    ...head("belfry_jobs_ended_total", "counter", "Jobs that ended, by their state."),
    ...totals.flatMap((total) =>
      ends(total).map(([state, count]) => sample("belfry_jobs_ended_total", { ...labelsOf(total), state }, count)),
    ),
    ...counter("scheduler_items_processed_total", "Items that batches looked at.", (t) => t.itemsProcessed),
    ...counter("scheduler_items_succeeded_total", "Items that went well.", (t) => t.itemsSucceeded),
    ...counter("scheduler_items_failed_total", "Items that did not.", (t) => t.itemsFailed),
    ...counter("scheduler_lock_acquired_total", "Jobs that got their lock.", (t) => t.locksAcquired),
    ...counter("scheduler_lock_failed_total", "Jobs skipped because it was held.", (t) => t.locksFailed),
    ...liveText(live),
    ...head(
      "belfry_jobs_failed_lately",
      "gauge",
      "Jobs that ended FAILED in the last five minutes and no run tolerates.",
    ),
    ...Object.entries(failures.jobs).map(([kind, jobs]) =>
      sample("belfry_jobs_failed_lately", { kind, lane: laneOf(kind) }, jobs),
    ),
    ...head(
      "belfry_dead_letters",
      "gauge",
      "Jobs that are FAILED and wait for a person; of the newest, up to a bound.",
    ),
    sample("belfry_dead_letters", {}, failures.dead),
    ...head("belfry_runs_failed_lately", "gauge", "Runs that ended FAILED in the last five minutes."),
    sample("belfry_runs_failed_lately", {}, failures.runs),
    ...head("belfry_archive_lag_seconds", "gauge", "How long the first row past its retention waits for the archive."),
    ...lags.map(({ part, lagMs }) => sample("belfry_archive_lag_seconds", { part }, lagMs / 1_000)),
    ...head(
      "belfry_objective_burn_rate",
      "gauge",
      "How many times as fast as its objective allows times of a schedule missed; 1 uses it up.",
    ),
    ...objectives.flatMap(({ schedule, fast, slow }) =>
      Object.entries({ fast, slow }).flatMap(([window, { rate, recentRate }]) => [
        sample("belfry_objective_burn_rate", { schedule, window }, rate),
        sample("belfry_objective_burn_rate", { schedule, window: `${window}-recent` }, recentRate),
      ]),
    ),
    ...head("belfry_objective_burns", "gauge", "1 while the rates of a window are so high that an alarm rings."),
    ...objectives.flatMap(({ schedule, fast, slow }) =>
      Object.entries({ fast, slow }).map(([window, { burns }]) =>
        sample("belfry_objective_burns", { schedule, window }, Number(burns)),
      ),
    ),
    "",
  ].join("\n");
}

/** Jobs that have not ended, and by lane those whose time has come and how long the first of them waits. */
function liveText({ counts, cut }: Live): readonly string[] {
  const states = Map.groupBy(counts, ({ lane, state }) => JSON.stringify({ lane, state }));
  const waiting = counts.filter(({ state, blocked, due }) => state !== "RUNNING" && !blocked && due > 0);
  const lanes = [...Map.groupBy(waiting, ({ lane }) => lane)];
  return [
    ...head("belfry_jobs", "gauge", "Jobs that have not ended, by state; counted up to a bound."),
    ...[...states].map(([labels, same]) =>
      sample("belfry_jobs", JSON.parse(labels) as Labels, sumOf(same.map(({ jobs }) => jobs))),
    ),
    ...head("belfry_jobs_at_least", "gauge", "1 for each part of the open jobs of which only the bound was counted."),
    ...cut.map(({ part, lane }) => sample("belfry_jobs_at_least", { lane: lane ?? "", part }, 1)),
    ...head("belfry_backlog_jobs", "gauge", "Jobs that are due and do not run yet."),
    ...lanes.map(([lane, same]) => sample("belfry_backlog_jobs", { lane }, sumOf(same.map(({ due }) => due)))),
    ...head("belfry_oldest_due_seconds", "gauge", "How long the first of them has been due."),
    ...lanes.map(([lane, same]) => {
      const oldestMs = Math.max(...same.map((each) => each.oldestMs));
      return sample("belfry_oldest_due_seconds", { lane }, oldestMs / 1_000);
    }),
  ];
}

type Labels = Readonly<Record<string, string>>;

const attempts = (total: KindTotal) =>
  [
    ["SUCCESS", total.attempts.count - total.failedAttempts.count],
    ["FAILED", total.failedAttempts.count - total.lost],
    ["LOST", total.lost],
    ["CANCELED", total.attemptsCanceled],
    ["RELEASED", total.released],
  ] as const satisfies readonly (readonly [AttemptOutcome, number])[];

const ends = (total: KindTotal) =>
  [
    ["SUCCESS", total.succeeded],
    ["FAILED", total.failed],
    ["CANCELED", total.canceled],
    ["SKIPPED", total.skipped],
  ] as const;

function executions(name: string, { attempts, failedAttempts }: KindTotal, labels: Labels): readonly string[] {
  const succeeded = {
    count: attempts.count - failedAttempts.count,
    seconds: Math.max(0, attempts.seconds - failedAttempts.seconds),
    buckets: attempts.buckets.map((count, index) => count - (failedAttempts.buckets[index] ?? 0)),
  };
  return [
    ...histogram(name, { ...labels, status: "success" }, succeeded),
    ...histogram(name, { ...labels, status: "failure" }, failedAttempts),
  ];
}

function histogram(name: string, labels: Labels, { count, seconds, buckets }: Histogram): readonly string[] {
  let below = 0;
  const bounds = durationBuckets.map((bound, index) => {
    below += buckets[index] ?? 0;
    return sample(`${name}_bucket`, { ...labels, le: String(bound) }, below);
  });
  return [
    ...bounds,
    sample(`${name}_bucket`, { ...labels, le: "+Inf" }, count),
    sample(`${name}_sum`, labels, seconds),
    sample(`${name}_count`, labels, count),
  ];
}

const head = (name: string, type: string, help: string): readonly string[] => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} ${type}`,
];

function sample(name: string, labels: Labels, value: number): string {
  const shown = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  return `${name}${shown.length === 0 ? "" : `{${shown.join(",")}}`} ${value}`;
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

const escaped = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
