import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Stage } from "aws-cdk-lib";
import type { Construct } from "constructs";
import { releaseFiles } from "../release-files.ts";
import type { Topology } from "../../src/topology.ts";

const belfry = fileURLToPath(new URL("../../bin/belfry.mjs", import.meta.url));

export interface BundledRelease {
  readonly topology: Topology;
  readonly functions: string;
  readonly image: string;
}

/** Runs `belfry bundle`, which finds its own Node 24. @throws Error with what it wrote. */
export function bundledRelease(scope: Construct, options: { stage: string; project?: string }): BundledRelease {
  const out = join(Stage.of(scope)?.outdir ?? tmpdir(), `.belfry-${options.stage}`);
  const { status, stderr, error } = spawnSync(
    process.execPath,
    [belfry, "bundle", "--stage", options.stage, "--out", out],
    { cwd: options.project ?? process.cwd(), encoding: "utf8", stdio: ["ignore", "ignore", "pipe"] },
  );
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`stage "${options.stage}" could not be bundled:\n${stderr.trim()}`);
  return {
    topology: JSON.parse(readFileSync(join(out, releaseFiles.topology), "utf8")) as Topology,
    functions: join(out, releaseFiles.functions),
    image: join(out, releaseFiles.image),
  };
}
