import type { ScheduleInput } from "../core/admin/schedule-control.ts";
import type { Misfire, ScheduleSpec } from "../core/ports/schedule.ts";

type Settings = Readonly<Record<string, unknown>>;

/** A stored schedule with some settings changed, as the whole that a replacement would send. */
export function patched(spec: ScheduleSpec, settings: Settings): ScheduleInput {
  const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
  const whole = { ...inputOf(spec), ...given };
  // One of the three says when it fires: the one given replaces the one it has.
  if (!["cron", "every", "at"].some((name) => name in given)) return whole as unknown as ScheduleInput;
  const { cron: _cron, every: _every, at: _at, ...others } = whole;
  const when = Object.fromEntries(
    ["cron", "every", "at"].flatMap((name) => (name in given ? [[name, given[name]]] : [])),
  );
  const { timezone: _zone, dst: _dst, ...zoneless } = others;
  return { ...("cron" in given ? others : { ...zoneless, ...zoneGiven(given) }), ...when } as unknown as ScheduleInput;
}

/** Elapsed time and instants know no zone, so only one that was asked for is held against them. */
const zoneGiven = ({ timezone, dst }: Settings): Settings => ({
  ...(timezone === undefined ? {} : { timezone }),
  ...(dst === undefined ? {} : { dst }),
});

function inputOf(spec: ScheduleSpec): Settings {
  const { expression, startDeadlineMs, startAt, endAt, payload } = spec;
  return {
    id: spec.id,
    kind: spec.job.kind,
    ...(expression.form === "cron"
      ? { cron: expression.cron, timezone: spec.timezone, dst: spec.dst }
      : expression.form === "every"
        ? { every: `${expression.everyMs}ms` }
        : { at: new Date(expression.at).toISOString() }),
    misfire: misfireOf(spec.misfire),
    overlap: spec.overlap,
    ...(startDeadlineMs === undefined ? {} : { startDeadline: `${startDeadlineMs}ms` }),
    ...(startAt === null ? {} : { startAt: new Date(startAt).toISOString() }),
    ...(endAt === null ? {} : { endAt: new Date(endAt).toISOString() }),
    ...(payload === null ? {} : { payload }),
    enabled: spec.enabled,
  };
}

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
