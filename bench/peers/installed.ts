import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { npmTools } from "../../test/outsider/tools.ts";

/** The folder with the peers in its `node_modules`. @throws Error */
export const installedPeers = (): Promise<string> => npmTools(fileURLToPath(new URL(".", import.meta.url)));

/** Loads a package of that folder. */
export async function load<T>(folder: string, name: string): Promise<T> {
  const file = createRequire(join(folder, "package.json")).resolve(name);
  return (await import(pathToFileURL(file).href)) as T;
}
