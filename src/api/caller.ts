/** `read` looks; `operate` also changes. */
export type Role = "read" | "operate";

/** Who asks. The name goes into the audit row of each change. */
export interface Caller {
  readonly name: string;
  readonly role: Role;
}

/** Says who asks, or null for somebody this API does not know. `env` is what the host passes along with a request. */
export type Identify = (request: Request, env: unknown) => Caller | null;

/**
 * Whoever signed a request, as IAM found: `arn:aws:sts::ACCOUNT:assumed-role/ROLE/SESSION` or a user's ARN.
 * @param operators ARNs of those who may change things, `*` for any text; left out: everybody who may call.
 */
export function signedCaller(arn: string | undefined, operators?: readonly string[]): Caller {
  const mayChange = operators === undefined || operators.some((pattern) => arn !== undefined && matches(pattern, arn));
  return { name: arn ?? "unknown signer", role: mayChange ? "operate" : "read" };
}

const matches = (pattern: string, text: string): boolean =>
  new RegExp(`^${pattern.replaceAll(/[^\w*]/g, String.raw`\$&`).replaceAll("*", ".*")}$`).test(text);
