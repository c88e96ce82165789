import { resolve } from "node:path";
import { Command } from "commander";
import { CliError, exitCodes, wrongUsage } from "../exit.ts";
import type { Output, World } from "../output.ts";
import { projectOf, stageIn } from "../project.ts";

export function bundleCommand(world: World, out: Output): Command {
  return new Command("bundle")
    .requiredOption("--out <folder>", "made, or replaced")
    .addHelpText("after", "\nExample:\n  $ npx belfry bundle --stage prod --out build/prod")
    .action(async (_: object, command: Command) => {
      const { stage, out: to } = command.optsWithGlobals<{ stage?: string; out: string }>();
      if (stage === undefined) throw wrongUsage("no-stage", "which stage? name it: --stage prod");
      const folder = resolve(world.folder, to);
      const project = await projectOf(world);
      const { makeRelease } = await bundler();
      await makeRelease(project, stageIn(project, stage), folder);
      out.result({ stage, folder }, () => `bundled ${stage} into ${folder}`);
    });
}

/** The one command that needs esbuild, which a program that only enqueues does not install. */
async function bundler(): Promise<typeof import("../../../infra/release.ts")> {
  try {
    return await import("../../../infra/release.ts");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new CliError(exitCodes.failure, "no-esbuild", "bundling needs esbuild: npm install -D esbuild");
  }
}
