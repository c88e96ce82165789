/** What schedules will do in a span of time, by the code that plans them. Nothing is missed, and each job ends after its usual time. */
import type { Instant } from "../machine/job.ts";
import type { FollowedTime, ScheduleRow, ScheduleSpec } from "../machine/schedule.ts";
import type { TimeDecision } from "./catch-up.ts";
import { planChain } from "./chain.ts";
import { planSchedule } from "./plan.ts";

/** A row that the ledger will have. */
export interface SimulatedTime extends TimeDecision {
  readonly spec: ScheduleSpec;
}

export interface SimulateOptions {
  /** Times that are due in `(from, to]`, and those without a job that would be. */
  readonly from: Instant;
  readonly to: Instant;
  /** @throws RangeError for more. */
  readonly timesMax: number;
  /** How long a job of a kind runs. A chain follows its end. */
  readonly runMs: (kind: string) => number;
}

/** Every time of the schedules that are on, in the order in which they are due. */
export function simulate(specs: readonly ScheduleSpec[], options: SimulateOptions): readonly SimulatedTime[] {
  const found = new Map<string, readonly SimulatedTime[]>();
  let left = options.timesMax;
  for (const spec of inChainOrder(specs.filter(({ enabled }) => enabled))) {
    const { expression } = spec;
    const times =
      expression.form === "after"
        ? followers(spec, found.get(expression.schedule) ?? [], options)
        : planned(spec, { ...options, timesMax: left });
    left -= times.length;
    if (left < 0)
      throw new RangeError(
        `the schedules have more than ${options.timesMax} times in this span: take fewer days, or fewer schedules`,
      );
    found.set(spec.id, times);
  }
  return [...found.values()].flat().toSorted((a, b) => dueAt(a) - dueAt(b) || (a.spec.id < b.spec.id ? -1 : 1));
}

const dueAt = ({ dueAt: at, time }: TimeDecision): Instant => at ?? time.instant;

/** One that follows another comes after it; those that follow one that is off have no times. */
function inChainOrder(specs: readonly ScheduleSpec[]): readonly ScheduleSpec[] {
  const ordered = new Map<string, ScheduleSpec>();
  const byId = new Map(specs.map((spec) => [spec.id, spec]));
  const add = (spec: ScheduleSpec, behind: ReadonlySet<string>): void => {
    const before = spec.expression.form === "after" ? byId.get(spec.expression.schedule) : undefined;
    if (before !== undefined && !behind.has(before.id)) add(before, new Set([...behind, before.id]));
    ordered.set(spec.id, spec);
  };
  for (const spec of specs) if (!ordered.has(spec.id)) add(spec, new Set([spec.id]));
  return [...ordered.values()];
}

/** As one tick at `from` would decide it, if it looked as far as `to`. A task of its own starts at the time itself too. */
function planned(spec: ScheduleSpec, { from, to, timesMax }: SimulateOptions): readonly SimulatedTime[] {
  const leadMs = spec.materializeBeforeMs - (spec.spread?.offsetMs ?? 0);
  const row = rowOf({ ...spec, launch: "tick" }, from + leadMs);
  const plan = planSchedule(row, { now: from, dispatchWindowMs: to - from, timesMax: timesMax + 1 });
  return plan.decisions.map((decision) => ({ ...decision, spec }));
}

function followers(
  spec: ScheduleSpec,
  before: readonly SimulatedTime[],
  { to, runMs }: SimulateOptions,
): readonly SimulatedTime[] {
  return before.flatMap((each) => {
    const endedAt = each.dueAt === null ? null : each.dueAt + runMs(each.spec.job.kind);
    const page = {
      row: rowOf(spec, each.time.instant - 1),
      times: [followed(each, endedAt)],
      until: each.time.instant,
    };
    const { expression } = spec;
    const lateAt = each.time.instant + (expression.form === "after" ? expression.withinMs : 0) + 1;
    const plan = planChain(page, Math.min(endedAt ?? lateAt, lateAt));
    return plan.decisions.flatMap((decision) => ((decision.dueAt ?? 0) > to ? [] : [{ ...decision, spec }]));
  });
}

const followed = ({ time, outcome, reason, spec }: SimulatedTime, endedAt: Instant | null): FollowedTime => ({
  nominalAt: time.instant,
  localTime: time.localTime,
  fold: time.fold,
  timezone: time.timezone ?? spec.timezone,
  outcome: outcome === "PLANNED" ? "FIRED" : outcome,
  reason,
  calendar: time.calendar ?? null,
  isCatchUp: false,
  result: endedAt === null ? "open" : "succeeded",
  endedAt,
});

const rowOf = (spec: ScheduleSpec, decidedUntil: Instant): ScheduleRow => ({
  id: spec.id,
  version: 1,
  source: "code",
  pause: null,
  spec,
  decidedUntil,
  nextAt: null,
});
