/** `belfry/config`: what `belfry.config.ts` is written with. Reading such a file runs no code of any app. */
import type { StageOptions } from "./stages.ts";

export type { ArchiveOptions, CallerScope, CellSettings, LaneSettings, Scope, Stage, StageOptions } from "./stages.ts";

/** The content of `belfry.config.ts`. */
export interface ProjectConfig {
  /**
   * Modules with apps, as paths from the config's folder, by a name of your choice: `{ jobs: "./jobs/index.ts" }`. The
   * default export of each is an app or an array of apps.
   */
  readonly apps: Readonly<Record<string, string>>;
  /** By name. `belfry dev` runs the stage `dev`. */
  readonly stages: Readonly<Record<string, StageOptions>>;
}

/** Gives the config its type, and keeps the names of its apps and stages. */
export const defineConfig = <const C extends ProjectConfig>(config: C): C => config;
