/** `read` looks; `operate` also changes. */
export type Role = "read" | "operate";

/** Who asks. The name goes into the audit row of each change. */
export interface Caller {
  readonly name: string;
  readonly role: Role;
}

/** Says who asks, or null for somebody this API does not know. `env` is what the host passes along with a request. */
export type Identify = (request: Request, env: unknown) => Caller | null;
