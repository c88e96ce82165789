/** The project a process works for: its apps and stages, from the nearest `belfry.config.ts` or from its own bundle. */
import { existsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { bundledProject, type BundledProject } from "./bundled-project.ts";
import { type Problem, DefinitionProblems } from "../define/problem.ts";
import { type Stage, stageOf, type StageOptions } from "./stages.ts";

export interface Project extends BundledProject {
  /** The folder of the config; state, logs and paths of apps are relative to it. */
  readonly root: string;
  /** The config's path; in a bundle the name it had. */
  readonly configFile: string;
  /** Paths of the modules with apps, by name; empty in a bundle. */
  readonly appFiles: Readonly<Record<string, string>>;
  readonly fakesFile: string | null;
}

export const configNames = ["belfry.config.ts", "belfry.config.mts", "belfry.config.js", "belfry.config.mjs"] as const;

/** The nearest config at or above a folder; null when there is none. */
export function findConfig(from: string): string | null {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const name = configNames.find((each) => existsSync(join(folder, each)));
    if (name !== undefined) return join(folder, name);
    if (dirname(folder) === folder) return null;
  }
}

/** No `belfry.config.ts` where one is needed. */
export class NoProject extends Error {
  override readonly name = "NoProject";
  constructor(folder: string) {
    super(`there is no belfry.config.ts in ${folder} or above: go to your project, or make one with npx create-belfry`);
  }
}

/** The config file that a process works with: `BELFRY_PROJECT`, else the nearest. @throws NoProject */
export function configFileOf(environment: Readonly<Record<string, string | undefined>>, folder: string): string {
  const named = environment["BELFRY_PROJECT"];
  const file = named ? resolve(folder, named) : findConfig(folder);
  if (file === null) throw new NoProject(folder);
  return file;
}

/**
 * Of this process: what its bundle holds, else what the environment and the working folder say. Call it where a process
 * starts and hand it down. @throws NoProject; DefinitionProblems with everything that is wrong in the config.
 */
export async function ownProject(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<Project> {
  if (bundledProject === null) return await openProject(configFileOf(environment, process.cwd()));
  const { stages, apps, fakes } = bundledProject;
  return {
    root: process.cwd(),
    configFile: "belfry.config.ts",
    stages,
    apps,
    appFiles: {},
    fakes,
    fakesFile: null,
  };
}

/** Reads the config, not the apps. @throws DefinitionProblems with everything that is wrong in it. */
export async function openProject(configFile: string): Promise<Project> {
  const module = (await import(pathToFileURL(configFile).href)) as { default?: unknown };
  const parsed = shape.safeParse(module.default ?? {});
  const name = configFile.slice(dirname(configFile).length + 1);
  if (!parsed.success) throw new DefinitionProblems(parsed.error.issues.map((issue) => problemOf(name, issue)));
  const root = dirname(configFile);
  const { apps, stages, fakes = null } = parsed.data;
  const problems = [...missingFiles(name, root, apps), ...unknownApps(name, Object.keys(apps), stages)];
  if (problems.length > 0) throw new DefinitionProblems(problems);
  const appFiles = Object.fromEntries(Object.entries(apps).map(([set, path]) => [set, join(root, path)]));
  const fakesFile = fakes === null ? null : join(root, fakes);
  const names = Object.keys(apps);
  return {
    root,
    configFile,
    appFiles,
    fakesFile,
    stages: Object.fromEntries(
      Object.entries(stages).map(([stage, options]) => [stage, stageOf(stage, options as StageOptions, names)]),
    ),
    apps: Object.fromEntries(Object.entries(appFiles).map(([set, file]) => [set, loader(file)])),
    fakes: fakesFile === null ? null : loader(fakesFile),
  };
}

const loader = (file: string) => (): Promise<unknown> => import(pathToFileURL(file).href) as Promise<unknown>;

export const stageNames = (project: Project): readonly string[] => Object.keys(project.stages);

/** @throws Error naming the stages there are. */
export function stageNamed(project: Project, name: string): Stage {
  const stage = Object.hasOwn(project.stages, name) ? project.stages[name] : undefined;
  if (stage !== undefined) return stage;
  const known = stageNames(project).join(", ");
  throw new Error(`stage "${name}" is not defined: use one of ${known}, or add it to ${project.configFile}`);
}

const rule = (error: string) => ({ error });
const count = (min: number, max: number) =>
  z
    .int(rule(`must be a whole number from ${min} to ${max}`))
    .min(min)
    .max(max);
const name = /^[a-z][a-z\d-]{0,40}$/;
const nameRule = "must be lower-case letters, digits and dashes, beginning with a letter";

/** A session names itself, so `*` may stand for it and for an account, never for the role or the user. */
const operator =
  /^arn:aws[\w-]*:(sts::(\d{12}|\*):assumed-role\/[\w+=,.@-]+\/[\w+=,.@*-]+|iam::(\d{12}|\*):(user\/[\w+=,.@/-]+|root))$/;
const operatorRule =
  "must be the ARN of a signer like arn:aws:sts::*:assumed-role/Operators/*, where * stands for an account or a session";

const callers = z.union([z.literal("*"), z.string().regex(operator)], rule(`${operatorRule}, or "*"`));

const scope = z
  .strictObject({
    callers: z
      .array(z.union([z.literal("local"), z.string().regex(operator)], rule(`${operatorRule}, or "local"`)))
      .min(1),
    apps: z.array(z.string()).optional(),
    lanes: z.array(z.string()).optional(),
  })
  .refine(({ apps, lanes }) => apps !== undefined || lanes !== undefined, rule("must name apps or lanes"));

const texts = z.record(z.string(), z.string()).optional();
const lane = z.strictObject({ memoryMb: count(128, 10_240).optional(), environment: texts, secrets: texts });

const archive = z
  .strictObject({
    format: z.literal("ndjson", rule('must be "ndjson"')),
    bucket: z
      .string()
      .regex(/^[a-z\d][a-z\d.-]{1,61}[a-z\d]$/, rule("must be the name of a bucket"))
      .optional(),
    // A class of storage that costs a minimum of 90 days, after 1 in the first one.
    coldAfterDays: count(1, 36_500).optional(),
    keptDays: count(1, 36_500).optional(),
  })
  .refine(({ bucket, coldAfterDays, keptDays }) => bucket === undefined || (coldAfterDays ?? keptDays) === undefined, {
    error: "coldAfterDays and keptDays are of the stack's own bucket: give a bucket of yours its own rules",
  })
  .refine(({ coldAfterDays = 0, keptDays = Infinity }) => keptDays > coldAfterDays, {
    error: "keptDays must be more than coldAfterDays",
  });

const stage = z.strictObject({
  apps: z.array(z.string()).min(1, rule("must name at least one of apps")).optional(),
  deployed: z.boolean(rule("must be true or false")).optional(),
  database: z.strictObject({ maxConnections: count(10, 100_000), poolPerWorker: count(1, 100) }).optional(),
  laneConcurrency: count(2, 1_000).optional(),
  workerMemoryMb: count(128, 10_240).optional(),
  schedulerTask: z.strictObject({ cpu: count(256, 16_384), memoryMb: count(512, 122_880) }).optional(),
  dispatchWindowMs: count(0, 900_000).optional(),
  onLockOutage: z.enum(["postgres", "skip"], rule('must be "postgres" or "skip"')).optional(),
  logRetentionDays: z.literal([7, 30, 90], rule("must be 7, 30 or 90")).optional(),
  operators: z.array(callers).optional(),
  revealers: z.array(callers).optional(),
  scopes: z.array(scope).optional(),
  eventBus: z.string().optional(),
  eventWebhook: z
    .strictObject({ url: z.string().regex(/^https:/, rule("must be an https URL")), secret: z.string() })
    .optional(),
  archive: archive.optional(),
  apiConcurrency: count(1, 1_000).optional(),
  cell: z
    .strictObject({ number: count(0, 63), runsSchedules: z.boolean(rule("must be true or false")).optional() })
    .optional(),
  lanes: z.record(z.string(), lane).optional(),
});

const shape = z.strictObject({
  apps: z.record(z.string().regex(name, rule(nameRule)), z.string(rule("must be the path of a module")), {
    error: 'must be paths of modules by name, for example { jobs: "./jobs/index.ts" }',
  }),
  stages: z.record(z.string().regex(name, rule(nameRule)), stage, {
    error: 'must be stages by name, for example { dev: { deployed: false }, prod: { operators: ["*"] } }',
  }),
  /** Of this repository's examples alone: the outside targets that run beside them. */
  fakes: z.string().optional(),
});

function problemOf(thing: string, issue: z.core.$ZodIssue): Problem {
  const field = issue.path.join(".") || "default export";
  if (issue.code !== "unrecognized_keys") return { thing, field, value: "", rule: issue.message, fix: "" };
  return { thing, field, value: issue.keys.join(", "), rule: "is not a field that exists", fix: "remove it" };
}

function missingFiles(thing: string, root: string, apps: Readonly<Record<string, string>>): readonly Problem[] {
  const isFile = (path: string): boolean => statSync(join(root, path), { throwIfNoEntry: false })?.isFile() === true;
  return Object.entries(apps)
    .filter(([, path]) => !isFile(path))
    .map(([set, path]) => {
      const fix = `correct the path, which counts from ${root}`;
      return { thing, field: `apps.${set}`, value: JSON.stringify(path), rule: "must be a file", fix };
    });
}

function unknownApps(
  thing: string,
  known: readonly string[],
  stages: Readonly<Record<string, { readonly apps?: readonly string[] | undefined }>>,
): readonly Problem[] {
  return Object.entries(stages).flatMap(([stage, { apps = [] }]) =>
    apps
      .filter((set) => !known.includes(set))
      .map((set) => {
        const ruled = `must be of apps: ${known.join(", ")}`;
        return { thing, field: `stages.${stage}.apps`, value: JSON.stringify(set), rule: ruled, fix: "" };
      }),
  );
}
