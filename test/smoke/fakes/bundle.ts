/** `node test/smoke/fakes/bundle.ts FOLDER`: what the task of the fakes runs, each in one file by its name. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { fakes } from "../../../examples/fakes.ts";
import { bundle } from "../../../infra/bundle.ts";
import { openProject } from "../../../src/stage/project.ts";

const project = await openProject(fileURLToPath(new URL("../../../belfry.config.ts", import.meta.url)));

export async function bundleFakes(folder: string): Promise<void> {
  const entries = [
    ["main", fileURLToPath(new URL("main.ts", import.meta.url))],
    ...fakes.map(({ name, file }) => [name, fileURLToPath(file)]),
  ];
  await Promise.all(entries.map(([name = "", file = ""]) => bundle(file, join(folder, `${name}.mjs`), { project })));
}

if (import.meta.main) await bundleFakes(process.argv[2] ?? "out");
