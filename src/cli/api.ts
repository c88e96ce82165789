import type { Command } from "commander";
import { apiAddress } from "./address.ts";
import { type ApiClient, apiClient } from "./client.ts";
import { deployedApi } from "./deployed.ts";
import type { World } from "./world.ts";

interface Asked {
  readonly url?: string;
  readonly stage?: string;
}

/** The API that this command line speaks to: a deployed stage's by `--stage`, else the one at an address. */
export function api(world: World, command: Command): ApiClient {
  const { url, stage } = command.optsWithGlobals<Asked>();
  if (stage !== undefined) return deployedApi(stage, { url, env: world.env });
  return apiClient(apiAddress(url, world.env, world.folder));
}

/** A deployed stage's, whatever else `--stage` says; an address that is given is taken as it is. */
export function apiOf(stage: string, world: World, command: Command): ApiClient {
  const url = command.optsWithGlobals<Asked>().url ?? world.env["BELFRY_URL"];
  return url === undefined
    ? deployedApi(stage, { url, env: world.env })
    : apiClient(apiAddress(url, world.env, world.folder));
}
