/** This repository's own project, as its belfry.config.ts says. */
import { fileURLToPath } from "node:url";
import { loadApps as load } from "../../src/compose/apps.ts";
import { openProject, stageNamed as named, stageNames as names } from "../../src/stage/project.ts";
import type { Stage } from "../../src/stage/stages.ts";

export const project = await openProject(fileURLToPath(new URL("../../belfry.config.ts", import.meta.url)));
export const stageNames = names(project);
export const stageNamed = (name: string): Stage => named(project, name);
export const stages = {
  dev: stageNamed("dev"),
  demo: stageNamed("demo"),
  emulator: stageNamed("emulator"),
  smoke: stageNamed("smoke"),
  systems: stageNamed("systems"),
  small: stageNamed("small"),
  prod: stageNamed("prod"),
};
export const loadApps = (stage: Pick<Stage, "apps">): ReturnType<typeof load> => load(project, stage);
