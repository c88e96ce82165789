import type { SignedRequest } from "../adapters/aws/signed-fetch.ts";
import { type ApiClient, apiClient, type ApiRequest } from "./client.ts";
import { findApi } from "./find-api.ts";
import { regionOf } from "./region.ts";
import { CliError, type ExitCode, exitCodes } from "./exit.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const timeoutMs = 30_000;

/**
 * The API of a deployed stage: its URL is an output of the stack that has it, or what `--url` says; every request is
 * signed with the credentials of the process, as IAM asks for.
 */
export function deployedApi(stage: string, given: { url: string | undefined; env: Environment }): ApiClient {
  const region = regionOf(given.env);
  let found: Promise<string> | undefined;
  return apiClient(`stage ${stage}`, async ({ method, path, body }: ApiRequest) => {
    if (!region) {
      throw new CliError(exitCodes.usage, "no-region", `--stage ${stage} needs to know where it is deployed`, [
        "name it: --region eu-west-1, AWS_REGION, or region of your profile in ~/.aws/config",
      ]);
    }
    found ??= given.url === undefined ? urlOf(stage, region, given.env) : Promise.resolve(given.url);
    const headers = { "content-type": "application/json" };
    const url = new URL(path, await found).href;
    const response = await signed({
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

/** The API itself says why, as a problem. */
const isRefusedByIam = ({ status, headers }: Response): boolean =>
  (status === 401 || status === 403) && headers.get("content-type")?.includes("problem") !== true;

/** IAM asks for both rights since October 2025: https://docs.aws.amazon.com/lambda/latest/dg/urls-auth.html */
export const notAllowed = (url: string, status: number): CliError =>
  new CliError(exitCodes.auth, "not-allowed", `${url} refused your credentials (${status})`, [
    "your role needs lambda:InvokeFunctionUrl and lambda:InvokeFunction on the API's function: docs/deploy.md, The console of a stage",
  ]);

/** The URL of the stage's API, from the outputs of its stack. @throws CliError when there is none or nothing can be signed. */
export async function urlOf(stage: string, region: string, env: Environment): Promise<string> {
  const endpoint =
    env["AWS_ENDPOINT_URL_CLOUDFORMATION"] ??
    env["AWS_ENDPOINT_URL"] ??
    `https://cloudformation.${region}.amazonaws.com`;
  const found = await findApi(stage, async (parameters) => {
    const response = await signed({
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
    throw noStage(response.status === 403 ? exitCodes.auth : exitCodes.notFound, stage, region, why);
  });
  if (found === null) throw noStage(exitCodes.notFound, stage, region, "no stack has an output with its address");
  return found.url;
}

const noStage = (code: ExitCode, stage: string, region: string, why: string): CliError =>
  new CliError(code, "no-stage", `the API of stage "${stage}" was not found in ${region}: ${why}`, [
    "is it deployed, to this account and region? npx cdk deploy",
    "or name its address: --url",
  ]);

/** Without credentials nothing can be signed, and that is not the API's fault. */
async function signed(request: SignedRequest): Promise<Response> {
  const { signedFetch } = await import("../adapters/aws/signed-fetch.ts");
  try {
    return await signedFetch(request);
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "CredentialsProviderError") throw error;
    throw new CliError(exitCodes.auth, "no-credentials", "there are no AWS credentials to sign the request with", [
      "sign in (aws sso login), or set AWS_PROFILE or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    ]);
  }
}
