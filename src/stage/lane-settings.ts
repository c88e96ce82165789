/** What the handlers of a lane are given besides Belfry's own settings: in the stage where they are deployed, in `.env` or the shell locally. */
import type { AppDefinition } from "../define/definition.ts";
import { type Problem, ProblemList } from "../define/problem.ts";
import type { LaneSettings, Stage } from "./stages.ts";

/** Settings of one lane as a stage gives them, and what its jobs ask for by name. */
export interface LaneNeeds {
  readonly environment: Readonly<Record<string, string>>;
  /** By name: where the value is kept. Never the value. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Names that jobs of the lane say they read (`environment`, `secrets` of a definition). */
  readonly needs: {
    readonly environment: readonly string[];
    readonly secrets: readonly string[];
    /** Names of keys that its jobs are sealed by; left out: none is. */
    readonly seals?: readonly string[];
  };
}

export function needsOf(lane: string, apps: readonly AppDefinition[], stage: Stage): LaneNeeds {
  const jobs = apps.flatMap((app) => app.jobs.filter((job) => job.lane === lane));
  const { environment = {}, secrets = {} } = settingsOf(lane, stage);
  const seals = named(jobs.flatMap((job) => job.seal?.name ?? []));
  return {
    environment,
    secrets,
    needs: {
      environment: named(jobs.flatMap((job) => job.environment ?? [])),
      secrets: named(jobs.flatMap((job) => job.secrets ?? [])),
      ...(seals.length === 0 ? {} : { seals }),
    },
  };
}

export const settingsOf = (lane: string, stage: Stage): LaneSettings => stage.lanes?.[lane] ?? {};

const named = (names: readonly string[]): readonly string[] => [...new Set(names)].toSorted();

type Given = Readonly<Record<string, string | undefined>>;
type NeedyLane = LaneNeeds & { readonly name: string };

/**
 * Names that a job asks for and that neither the stage nor `given`, the environment of this machine, has a value for. The
 * values of a deployed stage are all in the stage, so nothing is given there.
 */
export function missingSettings(stage: string, lanes: readonly NeedyLane[], given: Given = {}): readonly Problem[] {
  return lanes.flatMap(({ name, environment, secrets, needs }) => {
    const problems = new ProblemList(`lane "${name}" of stage "${stage}"`);
    const miss = (field: "environment" | "secrets", all: readonly string[], has: Readonly<Record<string, string>>) => {
      for (const each of all.filter((want) => !Object.hasOwn(has, want) && !given[want])) {
        const where = `lanes: { ${JSON.stringify(name)}: { ${field}: { ${each}: ... } } } of stage "${stage}" in belfry.config.ts`;
        const call = `lane(${JSON.stringify(name)}).${field === "secrets" ? "addSecret" : "addEnvironment"}("${each}", ...)`;
        const fix = `locally, put ${each} into .env; deployed, add ${where}, or ${call} in the CDK app`;
        problems.add(`${field}.${each}`, "(missing)", "is read by a job of this lane", fix);
      }
    };
    miss("environment", needs.environment, environment);
    miss("secrets", needs.secrets, secrets);
    return problems.found;
  });
}

/** AWS's: https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html */
const variable = /^[A-Za-z][A-Za-z0-9_]+$/;
const reserved = /^(AWS_|BELFRY_|LAMBDA_|_)|^(DATABASE_URL|NODE_OPTIONS)$/;
const reference = /^arn:aws[\w-]*:(secretsmanager|ssm):|^\/[\w./-]+$/;

/** Settings of the stage that no process could take, and lanes that do not exist. */
export function checkSettings(stage: Stage, lanes: readonly NeedyLane[]): readonly Problem[] {
  const problems = new ProblemList(`stage "${stage.name}"`);
  const known = lanes.map(({ name }) => name);
  for (const [lane, { environment = {}, secrets = {} }] of Object.entries(stage.lanes ?? {})) {
    if (!known.includes(lane))
      problems.add(`lanes.${lane}`, lane, "is no lane of the stage", `use ${known.join(", ")}`);
    for (const name of [...Object.keys(environment), ...Object.keys(secrets)]) {
      if (variable.test(name) && !reserved.test(name)) continue;
      const rule = "must be letters, digits and _, and not one of AWS's or Belfry's own";
      problems.add(`lanes.${lane}.${name}`, name, rule, "choose another name");
    }
    for (const [name, text] of Object.entries(secrets)) {
      if (reference.test(text)) continue;
      const rule = "must be the ARN of a secret or parameter, or the path of an SSM parameter";
      // A value that was written here by mistake must not reach a log.
      problems.add(`lanes.${lane}.secrets.${name}`, "(not shown)", rule, "store the value there and name it here");
    }
  }
  return problems.found;
}
