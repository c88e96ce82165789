import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Home } from "./home.ts";
import { markName } from "./process/left-processes.ts";
import { type Project, stageNamed } from "../project.ts";
import type { Parts } from "./services/parts.ts";

/** A system that a handler of another one starts has its own. */
const ofOneProcess = new Set(["BELFRY_CODE", markName]);

/** What every process of the system has in its environment. */
export function childEnvironment(
  options: { readonly apps?: readonly URL[]; readonly timeScale?: number },
  about: {
    project: Project;
    stage: string;
    home: Home;
    parts: Parts;
    environment: Readonly<Record<string, string | undefined>>;
  },
): Readonly<Record<string, string>> {
  const inherited = Object.entries(about.environment).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !ofOneProcess.has(entry[0]),
  );
  const { archive } = stageNamed(about.project, about.stage);
  return {
    ...(archive === undefined ? {} : { BELFRY_ARCHIVE: pathToFileURL(join(about.home.folder, "archive")).href }),
    ...Object.fromEntries(inherited),
    ...about.parts.env,
    BELFRY_PROJECT: about.project.configFile,
    BELFRY_STAGE: about.stage,
    BELFRY_HOME: about.home.folder,
    BELFRY_TIME_SCALE: String(options.timeScale ?? 1),
    ...(options.apps === undefined ? {} : { BELFRY_APPS: options.apps.map((url) => url.href).join(",") }),
  };
}
