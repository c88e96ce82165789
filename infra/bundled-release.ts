import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Stage } from "aws-cdk-lib";
import { Platform } from "aws-cdk-lib/aws-ecr-assets";
import { ContainerImage } from "aws-cdk-lib/aws-ecs";
import type { Construct } from "constructs";
import type { Topology } from "../src/stage/topology.ts";
import { type ReleaseCode, releaseCode } from "./code.ts";
import { releaseFiles } from "./release-files.ts";

const belfry = fileURLToPath(new URL("../bin/belfry.mjs", import.meta.url));

export interface Release {
  readonly topology: Topology;
  readonly code: ReleaseCode;
  /** Of the scheduler task. */
  readonly image: ContainerImage;
}

/** Runs `belfry bundle`, which finds its own Node 24. @throws Error with what it wrote. */
export function bundledRelease(scope: Construct, options: { stage: string; project?: string }): Release {
  const out = join(Stage.of(scope)?.outdir ?? tmpdir(), `.belfry-${options.stage}`);
  const { status, stderr, error } = spawnSync(
    process.execPath,
    [belfry, "bundle", "--stage", options.stage, "--out", out],
    { cwd: options.project ?? process.cwd(), encoding: "utf8", stdio: ["ignore", "ignore", "pipe"] },
  );
  if (error !== undefined) throw error;
  if (status !== 0) throw withoutStack(`stage "${options.stage}" could not be bundled: ${stderr.trim()}`);
  return {
    topology: JSON.parse(readFileSync(join(out, releaseFiles.topology), "utf8")) as Topology,
    code: releaseCode(join(out, releaseFiles.functions)),
    image: ContainerImage.fromAsset(join(out, releaseFiles.image), { platform: Platform.LINUX_ARM64 }),
  };
}

/** The message says what to do; a stack of Belfry's own files above it would hide that. */
function withoutStack(message: string): Error {
  const error = new Error(message);
  error.stack = `Error: ${message}`;
  return error;
}
