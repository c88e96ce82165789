import { type CallerScope, everyCaller, type Scope } from "../define/scope.ts";

/** `read` reads; `operate` also changes. */
export type CallerRole = "read" | "operate";

/** Who asks. The name goes into the audit row of each change. */
export interface Caller {
  readonly name: string;
  readonly role: CallerRole;
  /** Sees `[hidden]` in place of what definitions mark as sensitive. */
  readonly hides?: true;
  /** Sees and changes only this part; left out: all. */
  readonly scope?: Scope;
}

export interface Rights {
  readonly operators?: readonly string[];
  readonly revealers?: readonly string[];
  readonly scopes?: readonly CallerScope[];
}

/** Who asks, or null for a caller that is not known. `env` is what the host passes along with a request. */
export type Identify = (request: Request, env: unknown) => Caller | null;

/**
 * The caller whose signature IAM has checked: `arn:aws:sts::ACCOUNT:assumed-role/ROLE/SESSION` or a user's ARN. A request
 * without one has no identity, and so no rights: nothing is open because something in front of it is misconfigured.
 * The stage's `operators` may change things; left out: no caller. Its `revealers` see what definitions mark as sensitive; left
 * out: the operators that are named by ARN, not everybody who may change things.
 */
export function signedCaller(
  arn: string | undefined,
  { operators = [], revealers, scopes }: Rights = {},
): Caller | null {
  if (arn === undefined || arn === "") return null;
  const isAmong = (patterns: readonly string[]): boolean => patterns.some((each) => matches(each, arn));
  const reveals = revealers ?? operators.filter((each) => each !== everyCaller);
  return {
    name: arn,
    role: isAmong(operators) ? "operate" : "read",
    ...(isAmong(reveals) ? {} : { hides: true }),
    ...scopeOf(arn, scopes),
  };
}

/** The local system knows no users: whatever calls it is `local`. */
export const localCaller = ({ scopes }: Rights = {}): Caller => ({
  name: "local",
  role: "operate",
  ...scopeOf("local", scopes),
});

function scopeOf(name: string, scopes: readonly CallerScope[] = []): Pick<Caller, "scope"> {
  const own = scopes.filter(({ callers }) => callers.some((pattern) => matches(pattern, name)));
  if (own.length === 0) return {};
  return { scope: { apps: own.flatMap(({ apps = [] }) => apps), lanes: own.flatMap(({ lanes = [] }) => lanes) } };
}

const matches = (pattern: string, text: string): boolean =>
  pattern === everyCaller ||
  new RegExp(`^${pattern.replaceAll(/[^\w*]/g, String.raw`\$&`).replaceAll("*", "[^:/]*")}$`).test(text);
