import { DefinitionProblems } from "../define/problem.ts";
import { recordLoaded } from "../stage/loaded-files.ts";
import { configFileOf, NoProject, openProject, type Project, stageNamed, stageNames } from "../stage/project.ts";
import type { Stage } from "../stage/stages.ts";
import { CliError, exitCodes, wrongUsage } from "./exit.ts";
import type { World } from "./output.ts";

/** The project of the folder that the command was started in. @throws CliError when there is none or its config is wrong. */
export async function projectOf(world: Pick<World, "env" | "folder">): Promise<Project> {
  recordLoaded();
  try {
    return await openProject(configFileOf(world.env, world.folder));
  } catch (error) {
    if (error instanceof NoProject) throw wrongUsage("no-project", error.message);
    if (error instanceof DefinitionProblems) throw new CliError(exitCodes.failure, "bad-config", error.message);
    throw error;
  }
}

/** @throws CliError naming the stages there are. */
export function stageIn(project: Project, name: string): Stage {
  const names = stageNames(project);
  if (names.includes(name)) return stageNamed(project, name);
  throw wrongUsage("unknown-stage", `--stage is ${JSON.stringify(name)}; use ${names.join(", ")}`);
}
