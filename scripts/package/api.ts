/** `npm run api`: writes the reports of `api/` and the pages of `docs/reference/` again, from the declarations as published. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { layOut } from "./lay-out.ts";
import { surfaceFiles } from "./surface-files.ts";
import { surfaces } from "./surface.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "belfry-api-"));
try {
  const { belfry } = await layOut(folder, "0.0.0");
  for (const [file, text] of surfaceFiles(surfaces(belfry))) writeFileSync(join(root, file), text);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
