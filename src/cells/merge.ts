/** What is one answer of all cells, field by field of the API's own shapes. */
import type { BulkPreviewReply, BulkReply } from "../api/shape/bulk.ts";
import type { JobCountsReply, JobReply } from "../api/shape/job.ts";
import { figuresIn, type FiguresReply, type KindFigureListReply } from "../api/shape/kind-figures.ts";
import type { KindListReply } from "../api/shape/kind.ts";
import type {
  FailureGroupListReply,
  LaneListReply,
  LanePauseReply,
  LaneReply,
  LockListReply,
  LockReply,
  SlotUseReply,
  SummaryReply,
  ThroughputReply,
  WorkerReply,
} from "../api/shape/overview.ts";
import type { UpcomingReply } from "../api/shape/upcoming.ts";
import { operationsLimits } from "../core/ports/operations-limits.ts";
import { states } from "../core/job/state.ts";
import {
  every,
  some,
  chosen,
  down,
  byField,
  earliest,
  first,
  type Fold,
  grouped,
  largest,
  latest,
  maybe,
  rows,
  type Said,
  sum,
  sums,
  union,
  up,
} from "./fold.ts";

type Row<T> = T extends readonly (infer R)[] ? R : never;
type Minute = Row<ThroughputReply["minutes"]>;
type Hour = SummaryReply["lastHour"];
type Group = Row<FailureGroupListReply["groups"]>;
type Load = Row<UpcomingReply["lanes"]>;

const counted = byField<{ count: number; isMore: boolean }>({ count: sum, isMore: some });
const ended = {
  created: sum,
  succeeded: sum,
  failed: sum,
  retried: sum,
  canceled: sum,
  skipped: sum,
  lost: sum,
  meanRunMs: maybe(first<number>),
};

/** The mean run time is weighted with the attempts that ended. */
const weighted =
  <T extends Hour>(fold: Fold<T>): Fold<T> =>
  (said) => {
    const runs = said.map(({ value }) => ({
      attempts: value.succeeded + value.failed + value.retried,
      meanMs: value.meanRunMs ?? 0,
    }));
    const attempts = runs.reduce((total, run) => total + run.attempts, 0);
    const totalMs = runs.reduce((total, run) => total + run.attempts * run.meanMs, 0);
    return { ...fold(said), meanRunMs: attempts === 0 ? null : totalMs / attempts };
  };

const minutes = grouped<Minute>(
  ({ at }) => at,
  weighted(byField<Minute>({ at: first, started: sum, ...ended })),
  up(({ at }) => at),
);
const troubled = byField<NonNullable<SummaryReply["schedules"]>["late"]>({
  total: sum,
  isMore: some,
  first: maybe(first<string>),
});

const summary = byField<SummaryReply>({
  at: latest,
  live: byField<SummaryReply["live"]>({
    total: sum,
    byState: byField({ PENDING: sum, QUEUED: sum, RUNNING: sum, RETRY_WAIT: sum }),
    waiting: sum,
    scheduled: sum,
    held: sum,
    oldestWaitingMs: maybe(largest),
    isMore: some,
    atLeast: union,
  }),
  deadLetters: counted,
  lastHour: weighted(byField<Hour>(ended)),
  lanes: byField({ total: largest, paused: largest }),
  workers: byField({ busy: sum, lost: sum }),
  // The one that is the furthest behind.
  lastPass: maybe(chosen(down(({ ageMs }) => ageMs))),
  lastFailures: rows<JobReply>(
    down(({ finishedAt }) => finishedAt ?? ""),
    operationsLimits.lastFailuresShown,
  ),
  minutes: maybe(minutes),
  schedules: maybe(byField({ failing: troubled, late: troubled })),
});

/** What pauses one lane is said by the first cell in which it is paused. */
const paused = {
  pausedBy: maybe(first<string>),
  pausedAt: maybe(first<string>),
  pauseReason: maybe(first<string>),
  pausedUntil: maybe(first<string>),
};

/** It lasts as long as in the cell where it lasts longest; null is until it is resumed. */
const longest =
  <T extends { readonly paused: boolean; readonly pausedUntil: string | null }>(fold: Fold<T>): Fold<T> =>
  (said) => {
    const ends = said.flatMap(({ value }) => (value.paused ? [value.pausedUntil] : []));
    const last = ends.filter((end) => end !== null).toSorted();
    return { ...fold(said), pausedUntil: ends.includes(null) ? null : (last.at(-1) ?? null) };
  };

const lanes = byField<LaneListReply>({
  lanes: grouped(
    ({ name }) => name,
    longest(
      byField<LaneReply>({
        name: first,
        paused: some,
        ...paused,
        waiting: sum,
        running: sum,
        retrying: sum,
        scheduled: sum,
        held: byField({ slot: sum, paused: sum, predecessors: sum }),
        oldestWaitingMs: maybe(largest),
        concurrency: maybe(sum),
        batchSize: maybe(largest),
        atLeast: union,
      }),
    ),
  ),
  caps: grouped(
    ({ key }) => key,
    byField<SlotUseReply>({ key: first, size: sum, taken: sum, waiting: sum, holders: rows() }),
  ),
  workers: rows<WorkerReply>(),
  isMore: some,
});

/** The texts are those of the newest failure. */
const group: Fold<Group> = (said) =>
  byField<Group>({
    fingerprint: first,
    kind: first,
    errorCode: first,
    errorMessage: first,
    jobs: sum,
    firstAt: earliest,
    lastAt: first,
    newest: first,
    samples: rows(down(({ at }) => at)),
  })(said.toSorted((a, b) => down<Group>(({ lastAt }) => lastAt)(a.value, b.value)));

const figures: Fold<FiguresReply> = (said) =>
  figuresIn(
    said.flatMap(({ value }) => value.histogram ?? []),
    { hasHistogram: true },
  );

const load = byField<Load>({
  lane: first,
  times: sum,
  unknown: sum,
  expectedMs: sum,
  capacityMs: maybe(sum),
  busiest: maybe(chosen(down(({ share }) => share))),
});

const groups = byField<FailureGroupListReply>({
  groups: grouped(
    ({ fingerprint }) => fingerprint,
    group,
    down(({ lastAt }) => lastAt),
  ),
  isMore: some,
});

const upcoming = byField<UpcomingReply>({
  from: earliest,
  to: latest,
  times: rows(
    up(({ at }) => at),
    operationsLimits.upcomingTimesShown,
  ),
  parts: sums,
  lanes: grouped(({ lane }) => lane, load),
  apps: (said) => union(said).toSorted(),
  isMore: some,
});

const typed = <T extends object>(fold: Fold<T>) => fold as unknown as Fold<object>;

/** GET by path. `asks`: what the front adds to the query of each cell. */
export const merges: Readonly<
  Record<string, { readonly fold: Fold<object>; readonly asks?: Readonly<Record<string, string>> }>
> = {
  "/summary": { fold: typed(summary) },
  "/throughput": { fold: typed(byField<ThroughputReply>({ minutes })) },
  "/jobs/counts": {
    fold: typed(
      byField<JobCountsReply>(
        Object.fromEntries(states.map((state) => [state, counted])) as Record<keyof JobCountsReply, typeof counted>,
      ),
    ),
  },
  "/lanes": { fold: typed(lanes) },
  "/dead-letters": { fold: typed(groups) },
  "/kinds": { fold: typed(byField<KindListReply>({ kinds: grouped(({ id }) => id, first) })) },
  "/kind-figures": {
    asks: { include: "histogram" },
    fold: typed(
      byField<KindFigureListReply>({
        period: first,
        before: first,
        kinds: grouped(
          ({ kind, lane }) => [kind, lane],
          byField<Row<KindFigureListReply["kinds"]>>({ kind: first, lane: first, now: figures, before: figures }),
        ),
        isMore: some,
      }),
    ),
  },
  "/locks": { fold: typed(byField<LockListReply>({ locks: rows<LockReply>(), jobLocks: rows<SlotUseReply>() })) },
  "/upcoming": { fold: typed(upcoming) },
};

const bulkStates = ["RUNNING", "STOPPED", "DONE"] as const;
const canaryStates = ["failed", "wanted", "out", "passed"] as const;
export const bulkJoint = "-";

/** Parts of one bulk action, one in each cell; its id is theirs, with `-` between them. */
const bulk = byField<BulkReply>({
  id: (said) => said.map(({ value }) => value).join(bulkJoint),
  action: first,
  filter: first,
  caller: first,
  state: chosen(up((state) => bulkStates.indexOf(state))),
  matched: counted,
  paceMs: largest,
  canary: maybe(byField({ state: chosen(up((state) => canaryStates.indexOf(state))), jobs: union })),
  changed: sum,
  takenAlong: sum,
  refused: sum,
  createdAt: earliest,
  updatedAt: latest,
  // Null until every part has ended.
  finishedAt: (said) => (said.some(({ value }) => value === null) ? null : maybe(latest)(said)),
});
export const wholeBulk = typed(bulk);
const begun = typed<BulkReply | BulkPreviewReply>((said) =>
  "dryRun" in first(said)
    ? byField<BulkPreviewReply>({ dryRun: first, matched: counted })(said as readonly Said<BulkPreviewReply>[])
    : bulk(said as readonly Said<BulkReply>[]),
);
const pause = typed(longest(byField<LanePauseReply>({ name: first, paused: every, ...paused, released: sum })));

/** What is done in every cell, and how their answers become one. */
export const changesOfAll: Readonly<Record<string, Fold<object>>> = {
  "POST /bulk": begun,
  "POST /dead-letters/redrive": begun,
  "POST /lanes/:name/pause": pause,
  "POST /lanes/:name/resume": pause,
  // The size is of each cell: nothing adds up.
  "PUT /caps/:kind": first,
};
