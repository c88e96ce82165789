import { type AppDefinition, appFormat } from "./core/define/definition.ts";
import type { Project } from "./project.ts";
import type { Stage } from "./stages.ts";

/** Runs the code of the stage's apps, and of no other. @throws TypeError for a module that exports something else. */
export async function loadApps(project: Project, stage: Pick<Stage, "apps">): Promise<readonly AppDefinition[]> {
  const sets = await Promise.all(
    stage.apps.map(async (set) => {
      const module = (await project.apps[set]?.()) as { readonly default?: unknown } | undefined;
      const apps = [module?.default].flat();
      const where = project.appFiles[set] ?? set;
      if (apps.length > 0 && apps.every(isApp)) {
        if (apps.every(({ format }) => format === appFormat)) return apps;
        throw new TypeError(`${where}: another major version of belfry made this app; npm ls belfry shows both`);
      }
      throw new TypeError(
        `${where} must export an app, or an array of apps, as its default: export default defineApp(...)`,
      );
    }),
  );
  return sets.flat();
}

const isApp = (value: unknown): value is AppDefinition =>
  typeof value === "object" && value !== null && (value as Partial<AppDefinition>).is === "app";

/** An outside service of this repository's examples, as `examples/fake.ts` describes it. */
export interface Fake {
  readonly name: string;
  readonly file: URL;
  readonly env: Readonly<Record<string, string>>;
  readonly once: boolean;
  readonly address?: { readonly variable: string; readonly scheme: "http" | "smtp" };
}

/** The fakes beside the stage's apps. Loading starts none. */
export async function loadFakes(project: Project, stage: Pick<Stage, "apps">): Promise<readonly Fake[]> {
  if (project.fakes === null || !stage.apps.includes("examples")) return [];
  return ((await project.fakes()) as { fakes: readonly Fake[] }).fakes;
}
