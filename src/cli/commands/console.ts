import { once } from "node:events";
import { Command, InvalidArgumentError } from "commander";
import { signedFetch, type SignedRequest } from "../../adapters/aws/signed-fetch.ts";
import { notAllowed, urlOf } from "../deployed.ts";
import { awsEnvironment } from "../api.ts";
import { regionOf } from "../region.ts";
import { CliError, exitCodes } from "../exit.ts";
import type { Output } from "../output.ts";
import { type Forwarded, startProxy } from "../signed-proxy.ts";
import type { World } from "../world.ts";

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
      const target = await find(
        command.optsWithGlobals<{ url?: string; stage?: string }>(),
        awsEnvironment(world, command),
      );
      await reach(target);
      const onRefused = refusalsTo(out);
      const proxy = await startProxy((request) => forward(target, request), { port, readOnly, onRefused }).catch(
        (error: unknown) => {
          throw portTaken(port ?? 0, error);
        },
      );
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

interface StageAddress {
  readonly url: string;
  readonly region: string;
}

/** By the address, or by the stage's stack in the region of the environment. */
async function find({ url, stage }: { url?: string; stage?: string }, env: World["env"]): Promise<StageAddress> {
  const region = regionOf(env);
  const given = url ?? (stage === undefined ? env["BELFRY_URL"] : undefined);
  if (given !== undefined || stage === undefined) return targetOf(given, env);
  if (!region) {
    throw new CliError(exitCodes.usage, "no-region", `--stage ${stage} needs to know where it is deployed`, [
      "name it: --region eu-west-1, AWS_REGION, or region of your profile in ~/.aws/config",
    ]);
  }
  return { url: await urlOf(stage, region, env), region };
}

/** A function URL names its region. */
function targetOf(url: string | undefined, env: World["env"]): StageAddress {
  if (url === undefined || !URL.canParse(url)) {
    throw new CliError(exitCodes.usage, "no-stage", "which stage?", [
      "name it: --stage prod (with AWS_REGION), or its address: --url https://....lambda-url.REGION.on.aws/",
    ]);
  }
  const region = /\.lambda-url\.([a-z\d-]+)\.on\.aws$/.exec(new URL(url).hostname)?.[1] ?? regionOf(env);
  if (region === undefined || region === "") {
    throw new CliError(exitCodes.usage, "no-region", "the address names no region: set AWS_REGION");
  }
  return { url, region };
}

/** Says at once what would fail with every page: no credentials, no permission, no answer. */
async function reach(target: StageAddress): Promise<void> {
  const request = { method: "GET", path: "/health", headers: {}, body: "" };
  const answer = await forward(target, request).catch((error: unknown) => {
    const isSigning = error instanceof Error && error.name === "CredentialsProviderError";
    const message = error instanceof Error ? error.message : String(error);
    throw new CliError(
      isSigning ? exitCodes.auth : exitCodes.failure,
      isSigning ? "no-credentials" : "stage-away",
      isSigning ? "there are no AWS credentials to sign with" : `${target.url} does not answer: ${message}`,
      isSigning ? ["sign in (aws sso login), or set AWS_PROFILE"] : [],
    );
  });
  await answer.body?.cancel();
  if (answer.status !== 401 && answer.status !== 403) return;
  throw notAllowed(target.url, answer.status);
}

function forward({ url, region }: StageAddress, { method, path, headers, body }: Forwarded): Promise<Response> {
  return signedFetch({
    url: new URL(path, url).href,
    method: method as SignedRequest["method"],
    service: "lambda",
    region,
    headers,
    timeoutMs,
    ...(body === "" ? {} : { body }),
  });
}

function portTaken(port: number, error: unknown): CliError {
  const why = error instanceof Error && "code" in error ? String(error.code) : String(error);
  const advice = "name another one: --port 8080, or leave it out for a free one";
  return new CliError(exitCodes.failure, "port-taken", `port ${port} of this machine cannot be used (${why})`, [
    advice,
  ]);
}

function portOf(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new InvalidArgumentError("It must be a number from 0 to 65535.");
}
