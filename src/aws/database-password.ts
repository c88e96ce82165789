import { Signer } from "@aws-sdk/rds-signer";
import { serviceUrl } from "./address.ts";
import { signedFetch } from "./signed-fetch.ts";

/**
 * How a process proves itself to Postgres: by the URL's own password, by a token that IAM signs, or by a secret that
 * may be rotated at any time.
 */
export type DatabaseAuth =
  { readonly kind: "password" } | { readonly kind: "iam" } | { readonly kind: "secret"; readonly arn: string };

export interface PasswordOptions {
  readonly auth: DatabaseAuth;
  readonly databaseUrl: string;
  readonly region: string;
  /** Where Secrets Manager answers; null is the service of the region. */
  readonly secretsEndpoint: string | null;
  /** Whether the process calls AWS's services by the names that answer over IPv6 too. Default false. */
  readonly isDualStack?: boolean;
}

const secretMsMax = 5_000;

/**
 * Returns the password for each new connection; null where the URL has it. Called each time, so that a rotated secret or an
 * expired token (15 minutes) stops no process.
 */
export function databasePassword(options: PasswordOptions): (() => Promise<string>) | null {
  const { auth, databaseUrl, region } = options;
  if (auth.kind === "password") return null;
  if (auth.kind === "secret") return () => secretPassword(auth.arn, options);
  const { hostname, port, username } = new URL(databaseUrl);
  const signer = new Signer({ hostname, port: Number(port || 5432), username: decodeURIComponent(username), region });
  return () => signer.getAuthToken();
}

/** @throws Error that names the secret and its fault, never its value. */
async function secretPassword(
  arn: string,
  { region, secretsEndpoint, isDualStack = false }: PasswordOptions,
): Promise<string> {
  const response = await signedFetch({
    url: secretsEndpoint ?? serviceUrl("secretsmanager", region, isDualStack),
    method: "POST",
    service: "secretsmanager",
    region,
    headers: { "content-type": "application/x-amz-json-1.1", "x-amz-target": "secretsmanager.GetSecretValue" },
    body: JSON.stringify({ SecretId: arn }),
    timeoutMs: secretMsMax,
  });
  if (!response.ok) {
    const { __type: type } = (await response.json().catch(() => ({}))) as { __type?: string };
    throw new Error(`the database's secret ${arn} could not be read: ${response.status} ${type ?? ""}`.trim());
  }
  const { SecretString: text = "" } = (await response.json()) as { SecretString?: string };
  return passwordIn(text, arn);
}

function passwordIn(text: string, arn: string): string {
  const { password } = parsed(text);
  if (typeof password === "string" && password !== "") return password;
  throw new Error(
    `the database's secret ${arn} has no field "password": store JSON like {"username", "password"} in it`,
  );
}

function parsed(text: string): { password?: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
