/** The variable of this process that has an address, for where it is known only at run time. */
export interface FromEnvironment {
  readonly env: string;
}

/** @throws Error naming the variable that is not set. */
export function outsideAddress(given: string | URL | FromEnvironment): string {
  if (typeof given === "string" || given instanceof URL) return String(given);
  const value = process.env[given.env];
  if (!value) throw new Error(`${given.env} is not set: it has the address of an outside service`);
  return value;
}
