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

/** Whether an address is of this machine: what is sent there stays on it. */
export function isLoopback(address: string): boolean {
  const { hostname } = new URL(address);
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname);
}
