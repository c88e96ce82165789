import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FileSystem } from "aws-cdk-lib";
import { Code } from "aws-cdk-lib/aws-lambda";
import { bundleConsole } from "../src/bundle-console.ts";
import { bundle } from "./bundle.ts";

export const functionNames = ["worker", "dead-letter", "ecs-events", "migrate", "api"] as const;
export type FunctionName = (typeof functionNames)[number];

/** The code of every function of a release. */
export interface ReleaseCode {
  readonly functions: Readonly<Record<FunctionName, Code>>;
  /** Differs whenever migrations or definitions do. */
  readonly release: string;
}

/** Bundles each function into a folder of its own below `outdir`. */
export async function bundleFunctions(outdir: string): Promise<Readonly<Record<FunctionName, string>>> {
  await writeConsole(join(outdir, ".bundle-api", "functions", "console"));
  const folders = await Promise.all(
    functionNames.map(async (name) => {
      const folder = join(outdir, `.bundle-${name}`);
      mkdirSync(folder, { recursive: true });
      await bundle(`functions/${name}.ts`, join(folder, "index.mjs"));
      return [name, folder] as const;
    }),
  );
  return Object.fromEntries(folders) as Record<FunctionName, string>;
}

/** The page's files, where `functions/api.ts` looks for them. */
async function writeConsole(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [name, { bytes }] of await bundleConsole()) writeFileSync(join(folder, name), bytes);
}

/** One per stack: an asset belongs to the stack that first uses it. */
export function releaseCode(folders: Readonly<Record<FunctionName, string>>): ReleaseCode {
  const functions = Object.fromEntries(
    functionNames.map((name): [string, Code] => [name, Code.fromAsset(folders[name])]),
  );
  return {
    functions: functions as Record<FunctionName, Code>,
    release: FileSystem.fingerprint(folders.migrate),
  };
}
