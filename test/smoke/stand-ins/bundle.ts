/** `node test/smoke/stand-ins/bundle.ts FOLDER`: what the task of the stand-ins runs, each in one file by its name. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { standIns } from "../../../examples/stand-ins.ts";
import { bundle } from "../../../infra/bundle.ts";
import { openProject } from "../../../src/project.ts";

const project = await openProject(fileURLToPath(new URL("../../../belfry.config.ts", import.meta.url)));

export async function bundleStandIns(folder: string): Promise<void> {
  const entries = [
    ["main", fileURLToPath(new URL("main.ts", import.meta.url))],
    ...standIns.map(({ name, file }) => [name, fileURLToPath(file)]),
  ];
  await Promise.all(entries.map(([name = "", file = ""]) => bundle(file, join(folder, `${name}.mjs`), { project })));
}

if (import.meta.main) await bundleStandIns(process.argv[2] ?? "out");
