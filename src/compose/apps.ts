import { relative } from "node:path";
import { type AppDefinition, appFormat } from "../define/definition.ts";
import { DefinitionProblems } from "../define/problem.ts";
import type { Project } from "../stage/project.ts";
import type { Stage } from "../stage/stages.ts";

/**
 * Runs the code of the stage's apps, and of no other. Of several cells, those that do not run the schedules have none: one
 * that had them withdraws them, as when the code loses them. @throws DefinitionProblems for a module that exports something else. */
export async function loadApps(
  project: Project,
  stage: Pick<Stage, "apps" | "cell">,
): Promise<readonly AppDefinition[]> {
  const sets = await Promise.all(
    stage.apps.map(async (set) => {
      const module = (await project.apps[set]?.()) as { readonly default?: unknown } | undefined;
      const apps = [module?.default].flat();
      if (apps.length > 0 && apps.every(isApp)) {
        if (apps.every(({ format }) => format === appFormat)) return apps;
        throw unfit(project, set, "is made by another major version of belfry", "npm ls belfry shows both");
      }
      throw unfit(
        project,
        set,
        "must export an app, or an array of apps, as its default",
        "export default defineApp(...)",
      );
    }),
  );
  const { cell } = stage;
  const runsSchedules = cell === undefined || (cell.runsSchedules ?? cell.number === 0);
  return runsSchedules ? sets.flat() : sets.flat().map((app) => ({ ...app, schedules: [] }));
}

const unfit = (project: Project, set: string, rule: string, fix: string): DefinitionProblems => {
  const value = relative(project.root, project.appFiles[set] ?? set);
  return new DefinitionProblems([{ thing: "belfry.config.ts", field: `apps.${set}`, value, rule, fix }]);
};

const isApp = (value: unknown): value is AppDefinition =>
  typeof value === "object" && value !== null && (value as Partial<AppDefinition>).is === "app";

/** An outside service of this repository's examples, as `examples/fake.ts` describes it. */
export interface Fake {
  readonly name: string;
  readonly file: URL;
  readonly once: boolean;
  readonly address?: { readonly variable: string; readonly scheme: "http" | "smtp" };
}

/** The fakes beside the stage's apps. Loading starts none. */
export async function loadFakes(project: Project, stage: Pick<Stage, "apps">): Promise<readonly Fake[]> {
  if (project.fakes === null || !stage.apps.includes("examples")) return [];
  return ((await project.fakes()) as { fakes: readonly Fake[] }).fakes;
}
