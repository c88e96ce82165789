import { type TurnRule, turnKey } from "../admission/turn.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { levels, type Priority, type Turn, type TurnLane } from "../machine/turn.ts";
import type { AppDefinition, JobDefinition } from "./definition.ts";
import type { LaneDefinition } from "./lane.ts";
import { InvalidPayload } from "./errors.ts";
import { answerOf, checkedKeyOf } from "./new-job.ts";
import { type Problem, ProblemList } from "./problem.ts";
import { contractRange, readChoice, readDuration, readOptions } from "./setting.ts";
import { valueFor } from "./stage.ts";

/** Each customer its share of the lane: `{ key: ({ customer }) => customer }`. */
export interface Fairness<P> {
  /** Who shares the lane. Computed once, when a job is made: 1 to 200 characters without NUL. */
  readonly key: (payload: P) => string;
  /** A job of a key with 4 gets its turn four times as often as one with 1: 0.1 to 100. Default 1. */
  readonly weight?: (payload: P) => number;
}

/** How a job shares its lane. Left out: its jobs are sent in the order of their due times. */
export interface Sharing<P> {
  /** Who shares the places of the lane, and by which weight: one with 5,000 jobs does not hold up the others. The lane needs `concurrency`. */
  readonly fairness?: Fairness<P>;
  /** Before or behind the other jobs of its key, or of the lane, by the `aging` of the lane: nothing waits for ever. The lane needs `concurrency`. */
  readonly priority?: Priority;
}

const fields = ["key", "weight"];

export function turnsFrom<P>({ fairness, priority }: Sharing<P>, problems: ProblemList): TurnRule | null {
  const choices = Object.keys(levels) as Priority[];
  const level = levels[readChoice(problems, "priority", priority, { choices, fallback: "normal" })];
  if (fairness === undefined) return priority === undefined ? null : { level, key: null, weight: () => 1 };
  const example = "write { key: (payload) => payload.customer }";
  const of = readOptions(problems, "fairness", fairness, { fields, example });
  if (of === null) return null;
  const { key, weight = () => 1 } = of;
  if (typeof key !== "function")
    problems.add("fairness.key", key, "must be a function of the payload", "write (payload) => payload.customer");
  if (typeof weight !== "function")
    problems.add("fairness.weight", weight, "must be a function of the payload", "write (payload) => payload.weight");
  if (typeof key !== "function" || typeof weight !== "function") return null;
  return { level, key: (payload) => key(payload) as string, weight: (payload) => weight(payload) as number };
}

/** @throws InvalidPayload when `fairness.key` or `fairness.weight` throws for it, or answers what is none. */
export function turnFor({ id, lane }: JobDefinition, { level, key, weight }: TurnRule, payload: unknown): Turn {
  const shared = key === null ? "" : checkedKeyOf(id, "fairness.key", () => key(payload));
  return { heldOn: turnKey({ lane, level, key: shared }), weight: checkedWeight(id, () => weight(payload)) };
}

function checkedWeight(id: string, answer: () => unknown): number {
  const { turnWeightMin: min, turnWeightMax: max } = contractLimits;
  const path = "fairness.weight";
  const weight = answerOf(id, path, answer);
  if (typeof weight === "number" && weight >= min && weight <= max) return weight;
  const message = `answered ${String(weight)} for it; a weight is a number from ${min} to ${max}`;
  throw new InvalidPayload(id, [{ path, message }]);
}

/** Lanes whose jobs take turns, with a size in this stage. */
export function turnLanesOf(apps: readonly AppDefinition[], stage: string): readonly TurnLane[] {
  const problems = new ProblemList("");
  return [...new Set(turnJobsOf(apps).map(({ lane }) => lane))].toSorted().flatMap((lane) => {
    const settings = laneSettings(apps, lane);
    const workers = valueFor(stage, settings.concurrency);
    if (workers === undefined) return [];
    const places = workers * (valueFor(stage, settings.batchSize) ?? contractLimits.sendBatchMax);
    const ahead = Math.ceil(places * (settings.ahead ?? contractLimits.turnAheadDefault));
    return [{ lane, places, ahead, agingMs: agingOf(settings, problems) }];
  });
}

export const agingOf = ({ aging }: LaneDefinition, problems: ProblemList): number =>
  readDuration(problems, "aging", aging, contractRange("agingMs"));

const turnJobsOf = (apps: readonly AppDefinition[]): readonly JobDefinition[] =>
  apps.flatMap(({ jobs }) => jobs.filter(({ turns }) => turns !== null));

const laneSettings = (apps: readonly AppDefinition[], lane: string): LaneDefinition =>
  Object.assign({}, ...apps.map(({ lanes }) => lanes[lane])) as LaneDefinition;

/** What is shared are the places of a lane: it must have a number of them. */
export function checkTurns(apps: readonly AppDefinition[], stage: string): readonly Problem[] {
  return turnJobsOf(apps).flatMap(({ id, lane, turns, runOn, body }) => {
    const problems = new ProblemList(`job "${id}"`);
    const field = turns?.key == null ? "priority" : "fairness";
    if (valueFor(stage, laneSettings(apps, lane).concurrency) === undefined) {
      const fix = `write lanes: { "${lane}": { concurrency: 20 } } in its app`;
      problems.add(field, lane, "needs its lane to have concurrency: its places are what is shared", fix);
    }
    if (runOn === "fargate")
      problems.add(field, runOn, "is not for a job on Fargate, which takes no place of its lane", "use concurrency");
    if (body.is !== "handler")
      problems.add(field, body.is, "is for jobs with `run`", "leave it out, or set it on the jobs that it makes");
    return problems.found;
  });
}

/** The targets of a fan-out without fairness in a lane with other kinds hold those up. */
export const turnNotes = (apps: readonly AppDefinition[]): readonly string[] =>
  apps.flatMap(({ jobs }) =>
    jobs.flatMap(({ id, body }) => {
      if (body.is !== "fanOut" || body.each.turns !== null) return [];
      const { id: each, lane } = body.each;
      const others = apps.flatMap((app) =>
        app.jobs.filter((job) => job.lane === lane && job.id !== each && job.id !== id),
      );
      if (others.length === 0) return [];
      const names = [...new Set(others.map((job) => job.id))].slice(0, 3).join(", ");
      return [
        `job "${id}": its targets share lane "${lane}" with ${names}, which wait behind them: give "${each}" fairness, or a lane of its own`,
      ];
    }),
  );
