import type { ScheduleInput } from "../insight/schedule-control.ts";
import { HttpProblem } from "./problem.ts";
import type { Misfire, Objective, ScheduleSpec } from "../machine/schedule.ts";

type Settings = Readonly<Record<string, unknown>>;

/**
 * A stored schedule with some settings changed, as the whole that a replacement would send.
 * @throws HttpProblem 422 for a setting both given and unset, and for another kind without a payload: what a kind marks as sensitive stays
 * with that kind.
 */
export function applyPatch(
  spec: ScheduleSpec,
  settings: Settings & { readonly unset?: readonly string[] | undefined },
): ScheduleInput {
  const { unset = [], ...changed } = settings;
  const { kind = spec.job.kind, payload } = changed;
  if (kind !== spec.job.kind && payload === undefined && spec.payload !== null) throw needsPayload(spec.job.kind);
  const given = Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== undefined));
  const both = unset.find((name) => name in given);
  if (both !== undefined) throw invalid("unset", `names "${both}", which is given too: do one of them`);
  const own = Object.entries(kept(inputOf(spec), given)).filter(
    ([name, value]) => value !== undefined && !unset.includes(name),
  );
  return { ...Object.fromEntries(own), ...given } as unknown as ScheduleInput;
}

const needsPayload = (kind: string): HttpProblem =>
  invalid(
    "payload",
    `must be given together with another kind: the stored one was written for "${kind}" and does not go along`,
  );

const invalid = (path: string, message: string): HttpProblem =>
  new HttpProblem("invalid-schedule", `${path} ${message}`, { issues: [{ path, message }] });

/** One of three settings says when it fires: the one given replaces the one it has. */
function kept(own: Settings, given: Settings): Settings {
  if (!["cron", "every", "at"].some((name) => name in given)) return own;
  const { cron: _cron, every: _every, at: _at, ...others } = own;
  if ("cron" in given) return others;
  // Elapsed time and instants know no zone, so only one that was asked for is held against them.
  const { timezone: _zone, dst: _dst, except: _except, only: _only, onExcluded: _moves, ...zoneless } = others;
  return zoneless;
}

function inputOf(spec: ScheduleSpec): Settings {
  const { expression, startDeadlineMs, spread, objective, startAt, endAt, payload } = spec;
  return {
    id: spec.id,
    kind: spec.job.kind,
    ...(expression.form === "cron"
      ? { cron: expression.cron, timezone: spec.timezone, dst: spec.dst }
      : expression.form === "every"
        ? { every: `${expression.everyMs}ms` }
        : expression.form === "at"
          ? { at: new Date(expression.at).toISOString() }
          : { after: { ...expression, within: `${expression.withinMs}ms` } }),
    ...spec.calendars,
    only: spec.calendars?.only ?? undefined,
    misfire: misfireOf(spec.misfire),
    overlap: spec.overlap,
    ...(startDeadlineMs === undefined ? {} : { startDeadline: `${startDeadlineMs}ms` }),
    ...(spread === undefined ? {} : { spread: `${spread.withinMs}ms` }),
    ...(objective === undefined ? {} : { objective: objectiveOf(objective) }),
    ...(startAt === null ? {} : { startAt: new Date(startAt).toISOString() }),
    ...(endAt === null ? {} : { endAt: new Date(endAt).toISOString() }),
    ...(payload === null ? {} : { payload }),
    enabled: spec.enabled,
  };
}

const objectiveOf = ({ onTimeMs, endsWithinMs, share, overMs }: Objective): Settings => ({
  ...(onTimeMs === null ? {} : { onTime: `${onTimeMs}ms` }),
  ...(endsWithinMs === null ? {} : { endsWithin: `${endsWithinMs}ms` }),
  share,
  over: `${overMs}ms`,
});

function misfireOf({ rule, maxAgeMs, maxCount, paceMs }: Misfire): unknown {
  if (rule !== "all") return rule;
  return {
    all: {
      ...(maxAgeMs === null ? {} : { maxAge: `${maxAgeMs}ms` }),
      ...(maxCount === null ? {} : { maxCount }),
      pace: `${paceMs}ms`,
    },
  };
}
