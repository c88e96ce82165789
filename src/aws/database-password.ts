import { Signer } from "@aws-sdk/rds-signer";
import { readSecret, type SecretPlaces } from "./secrets.ts";
import { objectIn } from "./signed-fetch.ts";

/**
 * How a process proves itself to Postgres: by the URL's own password, by a token that IAM signs, or by a secret that
 * may be rotated at any time.
 */
export type DatabaseAuth =
  { readonly kind: "password" } | { readonly kind: "iam" } | { readonly kind: "secret"; readonly arn: string };

export interface PasswordOptions extends Omit<SecretPlaces, "ssmEndpoint"> {
  readonly auth: DatabaseAuth;
  readonly databaseUrl: string;
}

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
async function secretPassword(arn: string, options: PasswordOptions): Promise<string> {
  const { password } = objectIn<{ password: unknown }>(await readSecret(arn, { ...options, ssmEndpoint: null }));
  if (typeof password === "string" && password !== "") return password;
  throw new Error(
    `the database's secret ${arn} has no field "password": store JSON like {"username", "password"} in it`,
  );
}
