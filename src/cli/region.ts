import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/** The region as the AWS CLI finds it: the environment, else the profile of `~/.aws/config`. */
export function regionOf(env: Environment): string | undefined {
  return env["AWS_REGION"] || env["AWS_DEFAULT_REGION"] || regionOfProfile(env);
}

function regionOfProfile(env: Environment): string | undefined {
  const profile = env["AWS_PROFILE"] ?? "default";
  const wanted = profile === "default" ? "default" : `profile ${profile}`;
  let section = "";
  for (const line of linesOf(env["AWS_CONFIG_FILE"] ?? join(homedir(), ".aws", "config"))) {
    section = /^\s*\[\s*([^\]]+?)\s*\]/.exec(line)?.[1] ?? section;
    const region = /^\s*region\s*=\s*([a-z\d-]+)/.exec(line)?.[1];
    if (section === wanted && region !== undefined) return region;
  }
  return undefined;
}

function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, "utf8").split("\n");
  } catch {
    return [];
  }
}
