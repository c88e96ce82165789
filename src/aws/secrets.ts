import { serviceUrl } from "./address.ts";
import { jsonFetch } from "./signed-fetch.ts";

export interface SecretPlaces {
  readonly region: string;
  /** Where Secrets Manager answers; null is the service of the region. */
  readonly secretsEndpoint: string | null;
  /** Where the Parameter Store answers, likewise. */
  readonly ssmEndpoint: string | null;
  /** Whether the process calls AWS's services by the names that answer over IPv6 too. Default false. */
  readonly isDualStack?: boolean;
}

const callMsMax = 5_000;

/**
 * The value behind the ARN of a secret, or the ARN or path of an SSM parameter.
 * @throws Error naming the reference and what the service answered; never a value.
 */
export async function readSecret(reference: string, places: SecretPlaces): Promise<string> {
  const { service, endpoint, target, input } = callOf(reference, places);
  const { region, isDualStack = false } = places;
  const url = endpoint ?? serviceUrl(service, region, isDualStack);
  const response = await jsonFetch({ url, service, region, target, input, timeoutMs: callMsMax });
  const body: unknown = await response.json().catch((error: unknown) => {
    if (response.ok) throw error;
    return {};
  });
  const { __type: type = "", ...answer } = body as SecretAnswer;
  if (!response.ok) throw new Error(`the secret ${reference} could not be read: ${response.status} ${type}`.trim());
  const value = answer.SecretString ?? answer.Parameter?.Value;
  if (typeof value === "string" && value !== "") return value;
  throw new Error(`the secret ${reference} has no text: store one, not binary data`);
}

const callOf = (reference: string, { secretsEndpoint, ssmEndpoint }: SecretPlaces) =>
  /^arn:[\w-]+:secretsmanager:/.test(reference)
    ? {
        service: "secretsmanager",
        endpoint: secretsEndpoint,
        target: "secretsmanager.GetSecretValue",
        input: { SecretId: reference },
      }
    : {
        service: "ssm",
        endpoint: ssmEndpoint,
        target: "AmazonSSM.GetParameter",
        input: { Name: reference, WithDecryption: true },
      };

interface SecretAnswer {
  readonly SecretString?: unknown;
  readonly Parameter?: { readonly Value?: unknown };
  readonly __type?: string;
}
