import type { Command } from "commander";
import { apiAddress } from "./address.ts";
import { type ApiClient, apiClient } from "./client.ts";
import type { World } from "./world.ts";

/** The API that this command line speaks to. */
export const api = (world: World, command: Command): ApiClient =>
  apiClient(apiAddress(command.optsWithGlobals<{ url?: string }>().url, world.env, world.folder));

/** An id in a path: whatever was typed stays one part of it. */
export const part = (text: string): string => encodeURIComponent(text);
