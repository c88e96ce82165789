/** `read` reads; `operate` also changes. */
export type CallerRole = "read" | "operate";

/** Who asks. The name goes into the audit row of each change. */
export interface Caller {
  readonly name: string;
  readonly role: CallerRole;
  /** Sees `[hidden]` in place of what definitions mark as sensitive. */
  readonly hides?: true;
}

/** Who asks, or null for a caller that is not known. `env` is what the host passes along with a request. */
export type Identify = (request: Request, env: unknown) => Caller | null;

/**
 * The caller whose signature IAM has checked: `arn:aws:sts::ACCOUNT:assumed-role/ROLE/SESSION` or a user's ARN. A request
 * without one has no identity, and so no rights: nothing is open because something in front of it is misconfigured.
 * @param operators ARNs that may change things, `*` for any text within one part; left out: every caller that IAM lets in.
 * @param revealers ARNs that see what definitions mark as sensitive; left out: who may change things.
 */
export function signedCaller(
  arn: string | undefined,
  operators?: readonly string[],
  revealers: readonly string[] | undefined = operators,
): Caller | null {
  if (arn === undefined || arn === "") return null;
  const isAmong = (patterns?: readonly string[]): boolean => patterns?.some((each) => matches(each, arn)) ?? true;
  return { name: arn, role: isAmong(operators) ? "operate" : "read", ...(isAmong(revealers) ? {} : { hides: true }) };
}

const matches = (pattern: string, text: string): boolean =>
  new RegExp(`^${pattern.replaceAll(/[^\w*]/g, String.raw`\$&`).replaceAll("*", "[^:/]*")}$`).test(text);
