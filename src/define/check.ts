import { type AppDefinition, type JobDefinition, sharedLimitsOf, type ScheduleDefinition } from "./definition.ts";
import { checkBlackouts } from "./blackout.ts";
import { checkDebounce } from "./debounce.ts";
import type { LaneDefinition } from "./lane.ts";
import { slotGroupsOfLimit } from "./new-job.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { type Problem, ProblemList } from "./problem.ts";
import { ruleProblem } from "../calendar/rule.ts";
import { checkId, readCount } from "./setting.ts";
import { agingOf, checkTurns, turnNotes } from "./turn.ts";
import { type ByStage, type PerStage, valueFor } from "./stage.ts";

/**
 * All problems of the definitions of a stage, in the order of the apps; empty when they can run. `stages` are the known
 * names: a per-stage value for another name is a mistake.
 */
export function checkApps(
  apps: readonly AppDefinition[],
  stage: string,
  stages?: readonly string[],
): readonly Problem[] {
  const own = apps.flatMap((app) => [
    ...(app.problems ?? []),
    ...app.jobs.flatMap((job) => [...job.problems, ...checkJob(job, app)]),
    ...app.schedules.flatMap((schedule) => [
      ...(schedule.problems ?? []),
      ...checkSchedule(schedule, stage, stages),
      ...checkRule(schedule, stage, app.name),
    ]),
    ...checkLanes(app, stage, stages),
  ]);
  return [
    ...own,
    ...duplicates("app", apps, (app) => [[app.name, app]]),
    ...duplicates("job", apps, ({ jobs }) => jobs.map((job) => [job.id, job])),
    ...duplicates("schedule", apps, ({ schedules }) => schedules.map((schedule) => [schedule.id, schedule])),
    ...checkChains(apps),
    ...checkCircuits(apps),
    ...checkLimits(apps),
    ...checkTurns(apps, stage),
    ...checkDebounce(apps),
    ...lanesTwice(apps),
  ];
}

function checkJob(job: JobDefinition, app: AppDefinition): readonly Problem[] {
  const problems = new ProblemList(`job "${job.id}"`);
  if (job.lane !== "default" && !Object.hasOwn(app.lanes, job.lane)) {
    const fix = `add lanes: { "${job.lane}": {} } to the app, or use one of ${["default", ...Object.keys(app.lanes)].join(", ")}`;
    problems.add("lane", job.lane, `is not a lane of app "${app.name}"`, fix);
  }
  if (job.seal !== null && job.onSettled !== null)
    problems.add(
      "onSettled",
      "(function)",
      "also runs where no key is: it cannot read what is sealed",
      "write in the handler, by ctx.tx",
    );
  return problems.found;
}

function checkSchedule(
  schedule: ScheduleDefinition,
  stage: string,
  stages: readonly string[] | undefined,
): readonly Problem[] {
  const problems = new ProblemList(`schedule "${schedule.id}"`);
  const { every, enabled, launch } = schedule.staged ?? {};
  checkStages(problems, "every", every, stages);
  checkStages(problems, "launch", launch, stages);
  checkStages(problems, "enabled", enabled, stages);
  const isOn = enabled === undefined || valueFor(stage, enabled as PerStage<boolean>) === true;
  if (every !== undefined && isOn && valueFor(stage, every as PerStage<string>) === undefined) {
    problems.add(
      "every",
      every,
      `has no value for stage "${stage}"`,
      `add "${stage}" or "default", or leave the stage out of enabled`,
    );
  }
  return problems.found;
}

/** A chain must lead to a schedule with times of its own. */
function checkChains(apps: readonly AppDefinition[]): readonly Problem[] {
  const before = new Map(apps.flatMap((app) => app.schedules.map(({ id, after }) => [id, after] as const)));
  return [...before].flatMap(([id, after]) => {
    const problems = new ProblemList(`schedule "${id}"`);
    const way = [id];
    for (let next = after; next !== undefined && !way.slice(1).includes(next); next = before.get(next)) {
      if (!before.has(next) && way.length === 1)
        problems.add("after.schedule", next, "is no schedule of this project", "name the id of one, or define it");
      else if (next === id)
        problems.add("after.schedule", after, `is a circle: ${[...way, id].join(" after ")}`, "leave one of them out");
      else if (way.length === contractLimits.chainLengthMax)
        problems.add("after.schedule", after, `is a chain of more than ${contractLimits.chainLengthMax}`, "shorten it");
      way.push(next);
    }
    return problems.found;
  });
}

/** Kinds that share a circuit have one rule. */
function checkCircuits(apps: readonly AppDefinition[]): readonly Problem[] {
  const first = new Map<string, JobDefinition>();
  return apps.flatMap(({ jobs }) =>
    jobs.flatMap((job) => {
      const { circuit } = job;
      if (circuit === null) return [];
      const problems = new ProblemList(`job "${job.id}"`);
      const other = first.get(circuit.name) ?? job;
      first.set(circuit.name, other);
      if (JSON.stringify(other.circuit) !== JSON.stringify(circuit))
        problems.add("circuit.name", circuit.name, `has another rule in job "${other.id}"`, "give both one rule");
      return problems.found;
    }),
  );
}

/** Definitions of one limit have one setting; a function of its key is a job's own. */
const checkLimits = (apps: readonly AppDefinition[]): readonly Problem[] =>
  [...Map.groupBy(apps.flatMap(sharedLimitsOf), ({ id }) => id)].flatMap(([id, same]) => {
    const settings = new Set(same.map((limit) => JSON.stringify(slotGroupsOfLimit(limit))));
    if (settings.size === 1) return [];
    const problems = new ProblemList(`limit "${id.slice(1)}"`);
    problems.add("name", id.slice(1), `has ${settings.size} settings`, "define it once, and import it");
    return problems.found;
  });

/** What a rule cannot do, in a stage where the schedule has its own rule. */
function checkRule(schedule: ScheduleDefinition, stage: string, app: string): readonly Problem[] {
  if ((schedule.problems ?? []).length > 0) return [];
  const spec = schedule.spec(stage, app);
  const rule = spec.enabled && spec.launch === "rule" ? ruleProblem(spec) : null;
  if (rule === null) return [];
  const problems = new ProblemList(`schedule "${schedule.id}"`);
  const longer = rule.field === "every" ? `make it at least 1m in stage "${stage}", or ` : "";
  problems.add(rule.field, rule.value, rule.why, `${longer}use launch: { "${stage}": "tick" }`);
  return problems.found;
}

/** Surprises in valid expressions. */
export const notesOf = (apps: readonly AppDefinition[]): readonly string[] => [
  ...apps.flatMap((app) =>
    app.schedules.flatMap((schedule) => (schedule.notes ?? []).map((note) => `schedule "${schedule.id}": ${note}`)),
  ),
  ...turnNotes(apps),
];

function checkLanes(app: AppDefinition, stage: string, stages: readonly string[] | undefined): readonly Problem[] {
  return Object.entries(app.lanes).flatMap(([name, lane]) => {
    const problems = new ProblemList(`lane "${name}" of app "${app.name}"`);
    checkId(problems, "name", name, contractLimits.laneCharactersMax);
    const counts = [
      ["batchSize", 1, contractLimits.sendBatchMax],
      ["concurrency", 2, contractLimits.laneConcurrencyMax],
    ] as const;
    for (const [field, min, max] of counts) {
      checkStages(problems, field, lane[field], stages);
      readCount(problems, field, valueFor(stage, lane[field]), { min, max, fallback: null });
    }
    agingOf(lane, problems);
    checkBlackouts(lane, problems);
    const { turnAheadMax: most } = contractLimits;
    if (lane.ahead !== undefined && !(lane.ahead >= 1 && lane.ahead <= most))
      problems.add("ahead", lane.ahead, `must be a number from 1 to ${most}`, "leave it out for the default");
    return problems.found;
  });
}

function checkStages(
  problems: ProblemList,
  field: string,
  setting: PerStage<number> | ByStage<unknown> | undefined,
  stages: readonly string[] | undefined,
): void {
  if (setting === undefined || stages === undefined) return;
  // A number, which is the same in all stages, has no entries.
  for (const [name, value] of Object.entries(setting) as [string, unknown][]) {
    if (name === "default" || stages.includes(name)) continue;
    problems.add(
      `${field}.${name}`,
      value,
      `names a stage that does not exist`,
      `use one of ${stages.join(", ")}, default`,
    );
  }
}

/** Two apps may share one definition; two definitions may not share an id. */
function duplicates(
  what: string,
  apps: readonly AppDefinition[],
  of: (app: AppDefinition) => readonly (readonly [id: string, definition: object])[],
): readonly Problem[] {
  const placed = apps.flatMap((app) => of(app).map(([id, definition]) => ({ id, app: app.name, definition })));
  return [...Map.groupBy(placed, (each) => each.id)].flatMap(([id, same]) => {
    const definitions = new Set(same.map((each) => each.definition));
    if (definitions.size === 1) return [];
    const where = [...new Set(same.map((each) => `"${each.app}"`))].join(" and ");
    const problems = new ProblemList(`${what} "${id}"`);
    problems.add("id", id, `is used by ${definitions.size} definitions in app ${where}`, "rename all but one");
    return problems.found;
  });
}

/** Apps may share a lane, but only one of them may give it settings. */
function lanesTwice(apps: readonly AppDefinition[]): readonly Problem[] {
  const given = apps.flatMap((app) =>
    Object.entries(app.lanes).flatMap(([name, lane]) => (hasSettings(lane) ? [{ name, app: app.name, lane }] : [])),
  );
  return [...Map.groupBy(given, (each) => each.name)].flatMap(([name, same]) => {
    if (same.length === 1) return [];
    const problems = new ProblemList(`lane "${name}"`);
    const where = same.map((each) => `"${each.app}"`).join(" and ");
    problems.add("lanes", name, `is given settings by apps ${where}`, "keep them in one app");
    return problems.found;
  });
}

const hasSettings = (lane: LaneDefinition): boolean =>
  [lane.batchSize, lane.concurrency, lane.ahead, lane.aging, lane.blackouts].some((setting) => setting !== undefined);
