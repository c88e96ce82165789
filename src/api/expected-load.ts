import { capGate } from "../admission/cap.ts";
import type { DueGroup } from "../insight/due-soon.ts";
import type { Instant } from "../machine/job.ts";
import { hourMs, iso } from "../machine/units.ts";
import { insightLimits } from "../insight/insight-limits.ts";
import type { ScheduleRow } from "../machine/schedule.ts";
import { percentilesOf, readKindHours } from "../insight/kind-figures.ts";
import { type DueWork, peaksOf, pileUpsOf } from "../schedule/pile-ups.ts";
import type { ApiOptions } from "./options.ts";
import { pileUpJson } from "./simulation.ts";
import type { UpcomingReply } from "./shape/upcoming.ts";

/** A time that a schedule will have. */
export interface Coming {
  /** When its job is due. */
  readonly at: Instant;
  readonly nominalAt: Instant;
  readonly row: ScheduleRow;
}

export interface Span {
  readonly from: Instant;
  readonly to: Instant;
}

/** How long each kind typically runs, by its attempts of the last week; kinds that did not run are left out. */
export async function typicalRunMs(
  { insight }: Pick<ApiOptions, "insight">,
  now: Instant,
  percentile: "p50" | "p95" = "p50",
) {
  const to = Math.ceil((now + 1) / hourMs) * hourMs;
  const period = { from: to - insightLimits.typicalHours * hourMs, to };
  const hours = await insight.run(readKindHours, { now: period, before: { from: to, to }, kind: null, lane: null });
  const typical = new Map<string, number>();
  for (const [kind, rows] of Map.groupBy(hours, (row) => row.kind)) {
    const buckets = new Map<number, number>();
    for (const { bucket, ran } of rows) buckets.set(bucket, (buckets.get(bucket) ?? 0) + ran);
    const ms = percentilesOf(buckets)?.[percentile];
    if (ms !== undefined) typical.set(kind, ms);
  }
  return typical;
}

interface Work {
  /** In their order. */
  readonly times: readonly Coming[];
  /** Jobs that wait for a time, by the part of the span. */
  readonly due: readonly DueGroup[];
}

/** By lane, for what one span brings. */
export function loadOf(
  { times, due }: Work,
  typical: ReadonlyMap<string, number>,
  { lanes, span, parts }: { readonly lanes: ApiOptions["lanes"]; readonly span: Span; readonly parts: number },
): UpcomingReply["lanes"] {
  const runMs = (kind: string): number => typical.get(kind) ?? 0;
  const byLane = Map.groupBy(times, ({ row }) => row.spec.job.lane);
  const dueByLane = Map.groupBy(due, ({ lane }) => lane);
  return [...new Set([...byLane.keys(), ...dueByLane.keys()])]
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((lane) => {
      const [coming, waiting] = [byLane.get(lane) ?? [], dueByLane.get(lane) ?? []];
      const settings = lanes.find(({ name }) => name === lane);
      const atOnce = settings === undefined ? null : settings.concurrency * settings.batchSize;
      const unknown = waiting.filter(({ kind }) => !typical.has(kind));
      const work = workOf({ times: coming, due: waiting }, runMs);
      const wanted = peaksOf(work, atOnce, { ...span, parts });
      const most = Math.max(...wanted);
      const busiestAt = iso(span.from + (wanted.indexOf(most) * (span.to - span.from)) / parts);
      const [pileUp = null] = atOnce === null ? [] : pileUpsOf(work, atOnce).toSorted((a, b) => b.over - a.over);
      return {
        lane,
        times: coming.length,
        jobs: waiting.reduce((sum, { jobs }) => sum + jobs, 0),
        unknown:
          coming.filter(({ row }) => !typical.has(row.spec.job.kind)).length +
          unknown.reduce((sum, { jobs }) => sum + jobs, 0),
        expectedMs:
          coming.reduce((sum, { row }) => sum + runMs(row.spec.job.kind), 0) +
          waiting.reduce((sum, { kind, jobs }) => sum + jobs * runMs(kind), 0),
        capacityMs: atOnce === null ? null : atOnce * (span.to - span.from),
        busiest: atOnce === null || most === 0 ? null : { at: busiestAt, share: most / atOnce },
        wanted: [...wanted],
        pileUp: pileUp && pileUpJson(pileUp),
      };
    });
}

/** In the order in which it is due. A job of unknown length takes a moment; those of a group come evenly from its first to its last. */
function workOf({ times, due }: Work, runMs: (kind: string) => number): readonly DueWork[] {
  let left: number = insightLimits.expectedJobsMax;
  return [
    // A schedule with its own rule has a task, and no place of the lane.
    ...times.flatMap(({ at, row: { spec } }) =>
      spec.launch === "tick" ? [{ dueAt: at, runMs: Math.max(1, runMs(spec.job.kind)) }] : [],
    ),
    ...due.flatMap(({ kind, jobs, firstAt, lastAt }) => {
      const [first, last] = [Date.parse(firstAt), Date.parse(lastAt)];
      const own = Math.max(1, runMs(kind));
      const length = Math.min(jobs, left);
      left -= length;
      return Array.from({ length }, (_, n) => {
        return { dueAt: first + ((last - first) * n) / Math.max(1, jobs - 1), runMs: own };
      });
    }),
  ].toSorted((a, b) => a.dueAt - b.dueAt);
}

/** Times that find the cap of their kind full, if those before take as long as usual. In the order of the times. */
export function cappedOf(
  times: readonly Coming[],
  typical: ReadonlyMap<string, number>,
  { registry, sizes }: { readonly registry: ApiOptions["registry"]; readonly sizes: ReadonlyMap<string, number> },
): ReadonlySet<Coming> {
  const running = new Map<string, Instant[]>();
  const capped = new Set<Coming>();
  for (const each of times) {
    const { kind } = each.row.spec.job;
    const definition = registry.jobs.get(kind);
    const cap = definition === undefined ? null : capGate.groupOf(definition);
    if (cap === null) continue;
    const open = (running.get(kind) ?? []).filter((end) => end > each.at);
    const size = sizes.get(cap.key) ?? cap.size;
    const isFull = open.length >= size;
    if (isFull) capped.add(each);
    // One that waits starts when the first of those before it ends.
    const start = isFull ? (open.toSorted((a, b) => a - b)[open.length - size] ?? each.at) : each.at;
    running.set(kind, [...open, start + (typical.get(kind) ?? 0)]);
  }
  return capped;
}

/** Times that come before the one before them of the same schedule is likely to have ended. */
export function overlappingOf(times: readonly Coming[], typical: ReadonlyMap<string, number>): ReadonlySet<Coming> {
  const before = new Map<string, Instant>();
  return new Set(
    times.filter(({ at, row }) => {
      const last = before.get(row.id);
      before.set(row.id, at);
      return last !== undefined && last + (typical.get(row.spec.job.kind) ?? 0) > at;
    }),
  );
}
