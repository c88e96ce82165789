import { once } from "node:events";
import { Command } from "commander";
import type { SignedRequest } from "../../aws/signed-fetch.ts";
import { notAllowed, regionOf, sendSigned, type StageAddress, stageAddress } from "../deployed.ts";
import { awsEnvironment } from "../api.ts";
import { CliError, exitCodes, messageOf, wrongUsage } from "../exit.ts";
import type { Output, World } from "../output.ts";
import { type Forwarded, portOf, startProxy } from "../signed-proxy.ts";

/** Longer than a stream of events stays open. */
const timeoutMs = 70_000;
/** A program that keeps asking must not fill the terminal. */
const refusalsShownMax = 100;

export function consoleCommand(world: World, out: Output): Command {
  return new Command("console")
    .option("--port <n>", "of this machine (default: a free one)", portOf)
    .option("--read-only", "pass on nothing that changes something")
    .addHelpText("after", "\nExample:\n  $ npx belfry console --stage prod")
    .action(async ({ port, readOnly }: { port?: number; readOnly?: boolean }, command: Command) => {
      const target = await find(command.optsWithGlobals<{ url?: string; stage?: string }>(), {
        ...world,
        env: awsEnvironment(world, command),
      });
      await reach(target);
      const onRefused = refusalsTo(out);
      const proxy = await startProxy((request) => forward(target, request), { port, readOnly, onRefused });
      const { url, open, bearer } = proxy;
      out.result({ url, open, bearer, target: target.url }, () => `${open}\nshows ${target.url}; Ctrl-C ends`);
      out.note("the address works once: the browser that opens it acts with your rights");
      await once(process, "SIGTERM", { signal: world.interrupted }).finally(() => proxy.close());
    });
}

function refusalsTo(out: Output): (code: string) => void {
  let shown = 0;
  return (code) => {
    if (code === "read-only" || shown >= refusalsShownMax) return;
    shown += 1;
    out.note(`${new Date().toISOString()} refused a request: ${code}`);
  };
}

/** By the address, or by the stage's stack in the region of the environment. */
async function find(
  { url, stage }: { url?: string; stage?: string },
  { env, folder }: Pick<World, "env" | "folder">,
): Promise<StageAddress> {
  const given = url ?? (stage === undefined ? env["BELFRY_URL"] : undefined);
  if (given !== undefined || stage === undefined) return await targetOf(given, env);
  return await stageAddress(stage, { url: undefined, env, folder });
}

/** A function URL names its region. */
async function targetOf(url: string | undefined, env: World["env"]): Promise<StageAddress> {
  if (url === undefined || !URL.canParse(url)) {
    throw wrongUsage("no-stage", "which stage?", [
      "name it: --stage prod (with AWS_REGION), or its address: --url https://....lambda-url.REGION.on.aws/",
    ]);
  }
  const region = /\.lambda-url\.([a-z\d-]+)\.on\.aws$/.exec(new URL(url).hostname)?.[1] ?? (await regionOf(env));
  if (region === undefined || region === "") {
    throw wrongUsage("no-region", "the address names no region: set AWS_REGION");
  }
  return { url, region };
}

/** Says at once what would fail with every page: no credentials, no permission, no answer. */
async function reach(target: StageAddress): Promise<void> {
  const request = { method: "GET", path: "/health", headers: {}, body: "" };
  const answer = await forward(target, request).catch((error: unknown) => {
    if (error instanceof CliError) throw error;
    throw new CliError(exitCodes.failure, "stage-away", `${target.url} does not answer: ${messageOf(error)}`);
  });
  await answer.body?.cancel();
  if (answer.status !== 401 && answer.status !== 403) return;
  throw notAllowed(target.url, answer.status);
}

function forward({ url, region }: StageAddress, { method, path, headers, body }: Forwarded): Promise<Response> {
  return sendSigned({
    url: new URL(path, url).href,
    method: method as SignedRequest["method"],
    service: "lambda",
    region,
    headers,
    timeoutMs,
    ...(body === "" ? {} : { body }),
  });
}
