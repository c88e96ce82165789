import { existsSync } from "node:fs";
import { type PageFiles, readConsole } from "../api/console.ts";

const built = new URL("../../console/", import.meta.url);

/** The console's page: the package holds it, the repository makes it when it is asked for. */
export async function consoleFiles(): Promise<PageFiles> {
  if (existsSync(built)) return await readConsole(built);
  return await (await import("./bundle-console.ts")).bundleConsole();
}
