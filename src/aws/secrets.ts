import { serviceUrl } from "./address.ts";
import { signedFetch } from "./signed-fetch.ts";

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
  const isSecret = /^arn:[\w-]+:secretsmanager:/.test(reference);
  const value = isSecret ? await fromSecretsManager(reference, places) : await fromParameterStore(reference, places);
  if (typeof value === "string" && value !== "") return value;
  throw new Error(`the secret ${reference} has no text: store one, not binary data`);
}

async function fromSecretsManager(arn: string, places: SecretPlaces): Promise<unknown> {
  const { region, secretsEndpoint, isDualStack = false } = places;
  const answer = await call<{ SecretString?: string }>(arn, {
    url: secretsEndpoint ?? serviceUrl("secretsmanager", region, isDualStack),
    service: "secretsmanager",
    target: "secretsmanager.GetSecretValue",
    body: { SecretId: arn },
    region,
  });
  return answer.SecretString;
}

async function fromParameterStore(name: string, places: SecretPlaces): Promise<unknown> {
  const { region, ssmEndpoint, isDualStack = false } = places;
  const answer = await call<{ Parameter?: { Value?: string } }>(name, {
    url: ssmEndpoint ?? serviceUrl("ssm", region, isDualStack),
    service: "ssm",
    target: "AmazonSSM.GetParameter",
    body: { Name: name, WithDecryption: true },
    region,
  });
  return answer.Parameter?.Value;
}

interface Call {
  readonly url: string;
  readonly service: string;
  readonly target: string;
  readonly region: string;
  readonly body: unknown;
}

async function call<T>(reference: string, { url, service, target, region, body }: Call): Promise<T> {
  const response = await signedFetch({
    url,
    method: "POST",
    service,
    region,
    headers: { "content-type": "application/x-amz-json-1.1", "x-amz-target": target },
    body: JSON.stringify(body),
    timeoutMs: callMsMax,
  });
  if (response.ok) return (await response.json()) as T;
  const { __type: type } = (await response.json().catch(() => ({}))) as { __type?: string };
  throw new Error(`the secret ${reference} could not be read: ${response.status} ${type ?? ""}`.trim());
}
