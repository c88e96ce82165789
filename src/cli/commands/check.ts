import { Command } from "commander";
import { checkMigrations } from "../../postgres/migration-files.ts";
import { loadApps, loadFakes } from "../../compose/apps.ts";
import { configProblems } from "../../stage/config.ts";
import type { AppDefinition } from "../../define/definition.ts";
import { checkApps, notesOf } from "../../define/check.ts";
import { checkOperators, checkScopes } from "../../define/scope.ts";
import { describe, type Problem } from "../../define/problem.ts";
import { checkSettings, missingSettings } from "../../stage/lane-settings.ts";
import { type Project, stageNames } from "../../stage/project.ts";
import type { Stage } from "../../stage/stages.ts";
import { checkTopology, topology, type Topology } from "../../stage/topology.ts";
import { apiAgainst } from "../api.ts";
import { storedDifferences } from "../database.ts";
import { CliError, exitCodes, Finished, messageOf } from "../exit.ts";
import type { Output, World } from "../output.ts";
import { amountOf } from "../text.ts";
import { projectOf, stageIn } from "../project.ts";
import { type Waiting, waitingAgainst } from "../waiting.ts";

/**
 * Reads what the project defines and the settings of the environment; needs no running system and changes nothing. With
 * --stage and DATABASE_URL it also says how the stored schedules differ from those in code.
 */
export function checkCommand(world: World, out: Output): Command {
  return new Command("check")
    .option("--stage <name>", "one of belfry.config.ts (default: all of them)")
    .option("--environment", "the environment must have all that a process of Belfry needs")
    .addHelpText("after", "\nExample:\n  $ npx belfry check --stage prod")
    .option("--against <stage>", "also what waits in this deployed stage: nothing of it may be removed or narrowed")
    .action(async (_: object, command: Command) => {
      const { environment = false, against, ...given } = command.optsWithGlobals<CheckOptions>();
      const stage = given.stage ?? against;
      const project = await projectOf(world);
      const names = stage === undefined ? stageNames(project) : [stage];
      const stages = names.map((name) => stageIn(project, name));
      const database = stage === undefined ? undefined : world.env["DATABASE_URL"];
      const reports = await Promise.all(stages.map((each) => reportOf(project, each, database, world.env)));
      const waiting =
        against === undefined
          ? null
          : await waitingIn(project, stageIn(project, against), () => apiAgainst(against, world, command));
      const settings = configProblems(world.env, { complete: environment, project }).map(described);
      const lost = (waiting?.problems ?? []).map(described);
      const ok = settings.length + lost.length === 0 && reports.every((report) => report.problems.length === 0);
      const compared = waiting === null ? {} : { against: { ...waiting, problems: lost } };
      out.result({ ok, environment: settings, stages: reports, ...compared }, () =>
        [
          ...reports.map(reportText),
          ...(settings.length === 0 ? [] : [problemsText("environment", settings)]),
          ...(waiting === null ? [] : [waitingText(waiting, lost), ...lastingText(waiting)]),
          ...(against !== undefined && waiting === null ? [`what waits in ${against}: it is not deployed yet`] : []),
        ].join("\n"),
      );
      if (!ok) throw new Finished(exitCodes.failure);
    });
}

/** Before the first deployment nothing waits, and a pipeline must get past here. @returns null then. */
async function waitingIn(
  project: Project,
  stage: Stage,
  api: () => ReturnType<typeof apiAgainst>,
): Promise<Waiting | null> {
  try {
    return await waitingAgainst(project, stage, api());
  } catch (error) {
    if (error instanceof CliError && error.code === "not-deployed") return null;
    throw error;
  }
}

interface CheckOptions {
  readonly stage?: string;
  readonly environment?: boolean;
  readonly against?: string;
}

const waitingText = (waiting: Waiting, lost: readonly Described[]): string =>
  lost.length > 0
    ? problemsText(`what waits in ${waiting.stage}`, lost)
    : `what waits in ${waiting.stage}: ok (${waiting.jobs} jobs, ${waiting.runs} runs${waiting.isMore ? ", and more that were not looked at" : ""})`;

const lastingText = ({ lasting }: Waiting): readonly string[] =>
  lasting.length === 0
    ? []
    : [
        [
          "this release cannot be taken back: the one before it does not start behind these migrations",
          ...lasting.map(({ of, files }) => `  ${of}: ${files.join(", ")}`),
          "  deploy it with --no-rollback; a file named NNNN_expand_... only adds what the release before can ignore",
        ].join("\n"),
      ];

type Described = Problem & { readonly message: string };

const described = (problem: Problem): Described => ({ ...problem, message: describe(problem) });

/** What the stage's lanes have besides its own settings: the environment of this machine, and the addresses of fakes. */
type Given = Readonly<Record<string, string | undefined>>;

interface Report {
  readonly stage: string;
  readonly apps: number;
  readonly jobs: number;
  readonly schedules: number;
  readonly problems: readonly Described[];
  /** What a reader may not expect of an expression; nothing is wrong with it. */
  readonly notes: readonly string[];
  /** How the stored schedules differ from code; empty when no database is known. */
  readonly differences: readonly string[];
}

async function reportOf(
  project: Project,
  stage: Stage,
  database: string | undefined,
  env: NodeJS.ProcessEnv,
): Promise<Report> {
  const { name } = stage;
  const apps = await loadApps(project, stage);
  const fakes = (await loadFakes(project, stage)).map(({ name: fake, address }) => [address?.variable ?? "", fake]);
  const given = { ...(stage.deployed ? {} : env), ...Object.fromEntries(fakes) };
  const problems = [
    ...checkApps(apps, name, stageNames(project)),
    ...checkScopes(stage, apps),
    ...checkOperators(stage),
    ...checkMigrations(apps),
  ];
  const build = () => topology(apps.map(withSoundSchedules(problems)), stage);
  const all = [...problems, ...builtProblems(build, { stage, given }, problems.length === 0)];
  return {
    stage: name,
    apps: apps.length,
    jobs: new Set(apps.flatMap((app) => app.jobs)).size,
    schedules: apps.flatMap((app) => app.schedules).length,
    problems: all.map(described),
    notes: [...notesOf(apps), ...(all.length > 0 ? [] : givenElsewhere(apps, stage, given))],
    differences: all.length > 0 || !database ? [] : await storedDifferences(database, apps, name),
  };
}

/** A schedule that is wrong by itself cannot be built, and would hide what else only shows when everything is. */
const withSoundSchedules =
  (problems: readonly Problem[]) =>
  (app: AppDefinition): AppDefinition => ({
    ...app,
    schedules: app.schedules.filter(({ id }) => problems.every(({ thing }) => thing !== `schedule "${id}"`)),
  });

/** What the CDK app has to give a deployed stage, which is not known here; the synthesis refuses it if nothing does. */
const givenElsewhere = (apps: Parameters<typeof topology>[0], stage: Stage, given: Given): readonly string[] =>
  stage.deployed ? missingSettings(stage.name, topology(apps, stage).lanes, given).map(describe) : [];

/** What only shows when everything is put together: too many connections, a lane that cannot be built. */
function builtProblems(
  build: () => Topology,
  { stage, given }: { readonly stage: Stage; readonly given: Given },
  isSound: boolean,
): readonly Problem[] {
  try {
    const all = build();
    const missing = stage.deployed ? [] : missingSettings(stage.name, all.lanes, given);
    return [...checkTopology(all), ...checkSettings(stage, all.lanes), ...missing];
  } catch (error) {
    // Definitions that are wrong by themselves may not fit together either; their own problems say why.
    if (!isSound) return [];
    const fix = "change the stage in belfry.config.ts";
    return [{ thing: `stage "${stage.name}"`, field: "topology", value: "", rule: messageOf(error), fix }];
  }
}

function reportText({ stage, apps, jobs, schedules, problems, notes, differences }: Report): string {
  if (problems.length === 0) {
    return [
      `${stage}: ok (${amountOf(apps, "app")}, ${amountOf(jobs, "job")}, ${amountOf(schedules, "schedule")})`,
      ...notes.map((note) => `  note: ${note}`),
      ...differences.map((difference) => `  database: ${difference}`),
    ].join("\n");
  }
  return problemsText(stage, problems);
}

const problemsText = (what: string, problems: readonly Described[]): string =>
  [`${what}: ${amountOf(problems.length, "problem")}`]
    .concat(problems.map(({ message }) => `  - ${message}`))
    .join("\n");
