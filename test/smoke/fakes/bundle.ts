/** `node test/smoke/fakes/bundle.ts FOLDER`: what the task of the fakes runs, each in one file by its name. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { fakes } from "../../../examples/fakes.ts";
import { bundle } from "../../../infra/bundle.ts";

export async function bundleFakes(folder: string): Promise<void> {
  const entries = [["main", "test/smoke/fakes/main.ts"], ...fakes.map(({ name, file }) => [name, fileURLToPath(file)])];
  await Promise.all(entries.map(([name = "", file = ""]) => bundle(file, join(folder, `${name}.mjs`))));
}

if (import.meta.main) await bundleFakes(process.argv[2] ?? "out");
