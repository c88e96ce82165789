import type { EventSinkSettings } from "../aws/events/sink.ts";
import { type Problem, DefinitionProblems } from "../define/problem.ts";
import { type Project, stageNamed, stageNames } from "./project.ts";
import { type Environment, parseSettings, type Settings } from "./settings.ts";
import { asCell, type Stage } from "./stages.ts";

/** Everything a process of Belfry works with: its settings, and the stage of the project that they name. */
export interface Config extends Omit<Settings, "stageName" | "cell"> {
  readonly project: Project;
  readonly stage: Stage;
  /** Where events are published; null: nowhere. */
  readonly eventSink: EventSinkSettings | null;
  /** Whether rows past their retention wait for the archive, even while it is not known where that is. */
  readonly archives: boolean;
  readonly onLockOutage: "postgres" | "skip";
  readonly dispatchWindowMs: number;
}

/** @throws DefinitionProblems with every problem at once: name, value, rule and what to do. Passwords are not shown. */
export function readConfig(environment: Environment, project: Project): Config {
  const { settings, problems } = parseSettings(environment);
  const all = [...stageProblems(environment, project), ...problems];
  if (settings === null || all.length > 0) throw new DefinitionProblems(all);
  const { stageName, cell, ...rest } = settings;
  const stage = asCell(stageNamed(project, stageName), cell);
  const { eventBus: bus } = stage;
  return {
    ...rest,
    project,
    stage,
    eventSink: settings.eventSink ?? (bus === undefined ? null : { kind: "bus", bus }),
    archives: settings.archive !== null || stage.archive !== undefined,
    onLockOutage: settings.onLockOutage ?? stage.onLockOutage,
    dispatchWindowMs: settings.dispatchWindowMs ?? stage.dispatchWindowMs,
  };
}

/**
 * What is wrong with the settings there are. `complete` also says what a process would miss; without it a project that
 * has no database yet is fine.
 */
export function configProblems(
  environment: Environment,
  { complete, project }: { complete: boolean; project: Project },
): readonly Problem[] {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
  const defaults = complete ? {} : { DATABASE_URL: "postgresql://127.0.0.1/belfry", AWS_REGION: "us-east-1" };
  return [...stageProblems(environment, project), ...parseSettings({ ...defaults, ...given }).problems];
}

function stageProblems({ BELFRY_STAGE: name }: Environment, project: Project): readonly Problem[] {
  const names = stageNames(project);
  const wanted = name === undefined || name === "" ? "dev" : name;
  if (names.includes(wanted)) return [];
  const rule = `must be a stage of belfry.config.ts: ${names.join(", ")}`;
  const value = name === undefined ? "(missing, so dev)" : JSON.stringify(name);
  return [{ thing: "setting", field: "BELFRY_STAGE", value, rule, fix: "change or unset it" }];
}
