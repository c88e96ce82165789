import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { codeOf } from "./catalog.ts";

/** Vitest loads it in each test process. */
export const runner = join(import.meta.dirname, "runner.ts");

/** Puts in the modules in which mutants can be switched on. */
export const plugin = {
  name: "belfry-switched",
  enforce: "pre" as const,
  transform(_: string, id: string): string | null {
    const folder = process.env["BELFRY_SWITCHED"];
    if (folder === undefined) throw new Error("BELFRY_SWITCHED is not set");
    const path = codeOf(folder, relative(process.cwd(), id.split("?")[0] ?? id));
    return path === null ? null : readFileSync(path, "utf8");
  },
};
