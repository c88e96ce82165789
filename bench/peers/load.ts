import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** Loads a package of another folder's `node_modules`. */
export async function load<T>(folder: string, name: string): Promise<T> {
  const file = createRequire(join(folder, "package.json")).resolve(name);
  return (await import(pathToFileURL(file).href)) as T;
}
