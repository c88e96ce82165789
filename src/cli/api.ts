import type { Command } from "commander";
import { apiAddress } from "./address.ts";
import { type ApiClient, apiClient } from "./client.ts";
import { deployedApi } from "./deployed.ts";
import type { World } from "./output.ts";

interface Asked {
  readonly url?: string;
  readonly stage?: string;
  readonly region?: string;
  readonly profile?: string;
}

/**
 * The API that this command line speaks to: `--url`, `--stage`, BELFRY_URL, BELFRY_STAGE, else the running local system.
 * BELFRY_HOME names a local system, so that BELFRY_STAGE is only the stage which that one runs.
 */
export function api(world: World, command: Command): ApiClient {
  const { url } = command.optsWithGlobals<Asked>();
  const stage = deployedStage(world, command);
  return stage === null ? apiClient(apiAddress(url, world.env, world.folder)) : apiOf(stage, { url }, world, command);
}

/** The deployed stage that is spoken to, by its name; null for the local system and for an address. */
export function deployedStage({ env }: World, command: Command): string | null {
  const { url, stage } = command.optsWithGlobals<Asked>();
  if (stage !== undefined) return stage;
  const { BELFRY_URL, BELFRY_HOME, BELFRY_STAGE } = env;
  return url === undefined && !BELFRY_URL && !BELFRY_HOME && BELFRY_STAGE ? BELFRY_STAGE : null;
}

/** A deployed stage's, whatever else `--stage` says; an address that is given is taken as it is. */
export function apiAgainst(stage: string, world: World, command: Command): ApiClient {
  const url = command.optsWithGlobals<Asked>().url ?? world.env["BELFRY_URL"];
  return url === undefined
    ? apiOf(stage, { url }, world, command)
    : apiClient(apiAddress(url, world.env, world.folder));
}

function apiOf(stage: string, { url }: { url: string | undefined }, world: World, command: Command): ApiClient {
  return deployedApi(stage, { url, env: awsEnvironment(world, command), folder: world.folder });
}

/** What the AWS CLI would take: the options before the environment. The SDK reads the profile from the process. */
export function awsEnvironment({ env }: World, command: Command): World["env"] {
  const { region, profile } = command.optsWithGlobals<Asked>();
  if (profile !== undefined) process.env["AWS_PROFILE"] = profile;
  return {
    ...env,
    ...(profile === undefined ? {} : { AWS_PROFILE: profile }),
    ...(region === undefined ? {} : { AWS_REGION: region }),
  };
}
