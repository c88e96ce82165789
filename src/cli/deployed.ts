import type { SignedRequest } from "../aws/signed-fetch.ts";
import { type ApiClient, apiClient, type ApiRequest } from "./client.ts";
import { type DescribeStacks, findApi } from "./find-api.ts";
import { CliError, exitCodes, wrongUsage } from "./exit.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const timeoutMs = 30_000;

/**
 * The API of a deployed stage: its URL is an output of the stack that has it, or what `--url` says; every request is
 * signed with the credentials of the process, as IAM asks for.
 */
export function deployedApi(
  stage: string,
  given: { readonly url: string | undefined; readonly env: Environment; readonly folder: string },
): ApiClient {
  let found: Promise<StageAddress> | undefined;
  return apiClient(`stage ${stage}`, async ({ method, path, body }: ApiRequest) => {
    const { region, url: base } = await (found ??= stageAddress(stage, given));
    const headers = { "content-type": "application/json" };
    const url = new URL(path, base).href;
    const response = await sendSigned({
      url,
      method,
      service: "lambda",
      region,
      timeoutMs,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    if (isRefusedByIam(response)) throw notAllowed(url, response.status);
    return response;
  });
}

export interface StageAddress {
  readonly url: string;
  readonly region: string;
}

/** @throws CliError: of a name that the project of the folder does not have before all that keeps its address from being known. */
export async function stageAddress(
  stage: string,
  given: { readonly url: string | undefined; readonly env: Environment; readonly folder: string },
): Promise<StageAddress> {
  try {
    const region = await regionOfStage(stage, given.env);
    return { region, url: given.url ?? (await urlOf(stage, region, given)) };
  } catch (error) {
    // Not in place of what is wrong with credentials, rights or the network. A stage of another project may be found before.
    if (!(error instanceof CliError && ["no-region", "not-deployed"].includes(error.code))) throw error;
    const { projectOf, stageIn } = await import("./project.ts");
    const project = given.url === undefined ? await projectOf(given).catch(() => null) : null;
    if (project !== null) stageIn(project, stage);
    throw error;
  }
}

/** @throws CliError where nothing names one. */
export async function regionOfStage(stage: string, env: Environment): Promise<string> {
  const region = await regionOf(env);
  if (region) return region;
  throw wrongUsage("no-region", `--stage ${stage} needs to know where it is deployed`, [
    "name it: --region eu-west-1, AWS_REGION, or region of your profile in ~/.aws/config",
  ]);
}

/** The API itself says why, as a problem. */
const isRefusedByIam = ({ status, headers }: Response): boolean =>
  (status === 401 || status === 403) && headers.get("content-type")?.includes("problem") !== true;

/** IAM asks for both rights since October 2025: https://docs.aws.amazon.com/lambda/latest/dg/urls-auth.html */
export const notAllowed = (url: string, status: number): CliError =>
  new CliError(exitCodes.auth, "not-allowed", `${url} refused your credentials (${status})`, [
    "your role needs lambda:InvokeFunctionUrl and lambda:InvokeFunction on the API's function: docs/deploy.md, The console of a stage",
  ]);

/**
 * The URL of the stage's API, from the outputs of its stack; `cdk.out` of the folder may say which one that is.
 * @throws CliError: `not-deployed` when there is none, others when it cannot be asked for.
 */
async function urlOf(
  stage: string,
  region: string,
  { env, folder }: { readonly env: Environment; readonly folder: string },
): Promise<string> {
  const endpoint =
    env["AWS_ENDPOINT_URL_CLOUDFORMATION"] ??
    env["AWS_ENDPOINT_URL"] ??
    `https://cloudformation.${region}.amazonaws.com`;
  const describe: DescribeStacks = async (parameters) => {
    const response = await sendSigned({
      url: new URL("/", endpoint).href,
      method: "POST",
      service: "cloudformation",
      region,
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ Action: "DescribeStacks", Version: "2010-05-15", ...parameters }).toString(),
      timeoutMs,
    });
    const text = await response.text();
    if (response.ok) return text;
    const why = /<Message>([^<]*)<\/Message>/.exec(text)?.[1] ?? `CloudFormation answered ${response.status}`;
    if (response.status === 400 && /does not exist/.test(why)) return null;
    const code = response.status === 403 ? exitCodes.auth : exitCodes.notFound;
    throw new CliError(code, "no-stage", notFound(stage, region, why), [
      "your role needs cloudformation:DescribeStacks and cloudformation:ListStacks: docs/deploy.md, The console of a stage",
      "or name its address: --url",
    ]);
  };
  // Not of each command's start: it loads zod.
  const { synthesizedStack } = await import("./assembly.ts");
  const found = await findApi(stage, { named: synthesizedStack(folder, stage)?.name ?? null, describe });
  if (found !== null) return found.url;
  throw new CliError(
    exitCodes.notFound,
    "not-deployed",
    notFound(stage, region, "no stack has an output with its address"),
    ["is it deployed, to this account and region? npx cdk deploy", "or name its address: --url"],
  );
}

const notFound = (stage: string, region: string, why: string): string =>
  `the API of stage "${stage}" was not found in ${region}: ${why}`;

/** Without credentials nothing can be signed, and that is not the API's fault. */
export async function sendSigned(request: SignedRequest): Promise<Response> {
  const { signedFetch } = await import("../aws/signed-fetch.ts");
  try {
    return await signedFetch(request);
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "CredentialsProviderError") throw error;
    throw new CliError(exitCodes.auth, "no-credentials", "there are no AWS credentials to sign the request with", [
      "sign in (aws sso login), or set AWS_PROFILE or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    ]);
  }
}

/** The region as the AWS CLI finds it: the environment, else the profile of `~/.aws/config`. */
export async function regionOf(env: Environment): Promise<string | undefined> {
  const { AWS_REGION, AWS_DEFAULT_REGION, AWS_PROFILE = "default", AWS_CONFIG_FILE: configFilepath } = env;
  const named = AWS_REGION || AWS_DEFAULT_REGION;
  if (named) return named;
  const { loadSharedConfigFiles } = await import("@smithy/core/config");
  const { configFile } = await loadSharedConfigFiles(configFilepath === undefined ? {} : { configFilepath });
  return /^[a-z\d-]+$/.exec(configFile[AWS_PROFILE]?.["region"] ?? "")?.[0];
}
