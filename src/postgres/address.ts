/** The address of a database, as `DATABASE_URL` gives it. */
export interface Address {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user?: string;
  readonly password?: string;
  readonly ssl?: boolean;
}

/** @throws Error when the text is not an address of Postgres; it never shows the password. */
export function parseAddress(text: string): Address {
  const address = read(text);
  const shown = text === "" ? "(empty)" : `"${withoutPassword(text)}"`;
  if (address === null) {
    throw new Error(`DATABASE_URL ${shown} is not the address of a Postgres database: write ${addressForm}`);
  }
  const problem = sslProblem(text);
  if (problem !== null) throw new Error(`DATABASE_URL ${shown}: ${problem}`);
  return address;
}

/** @returns null for an address that `parseAddress` takes, else the rule that the text breaks. */
export const addressProblem = (text: string): string | null =>
  read(text) === null ? `must be the address of a Postgres database: ${addressForm}` : sslProblem(text);

/** Without the modes that fall back to plain text or accept any server. */
const sslModes: readonly string[] = ["disable", "require", "verify-ca", "verify-full"];

function sslProblem(text: string): string | null {
  const mode = URL.parse(text)?.searchParams.get("sslmode") ?? "disable";
  if (sslModes.includes(mode)) return null;
  return `sslmode "${mode}": write disable, require, verify-ca or verify-full; all but disable verify the server's certificate`;
}

/** How to write one. A password must escape the letters that have a meaning in a URL, also `%`. */
export const addressForm =
  "postgresql://user:password@host:port/database, with %25 for a % in the password, and %23 %2F %3A %3F %40 for # / : ? @";

/** Also for text that is no URL: everything between the user and the last `@` may be the password. */
export const withoutPassword = (text: string): string =>
  text.replace(/^((?:[\w+.-]+:\/+)?[^:@]*):.*@/s, "$1:***@").replaceAll(/([?&]password=)[^&]*/g, "$1***");

function read(text: string): Address | null {
  const url = URL.parse(text);
  if (url === null || !/^postgres(ql)?:\/\//.test(text) || url.pathname.length < 2) return null;
  const sslmode = url.searchParams.get("sslmode");
  try {
    return {
      host: url.searchParams.get("host") ?? decodeURIComponent(url.hostname),
      port: url.port === "" ? 5432 : Number(url.port),
      database: decodeURIComponent(url.pathname.slice(1)),
      ...(url.username === "" ? {} : { user: decodeURIComponent(url.username) }),
      ...(url.password === "" ? {} : { password: decodeURIComponent(url.password) }),
      ...(sslmode === null || sslmode === "disable" ? {} : { ssl: true }),
    };
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}

/** Puts the password into the address: the driver prefers an address without one to a password beside it. */
export async function withPassword(url: string, password: (() => Promise<string>) | undefined): Promise<string> {
  if (password === undefined) return url;
  const complete = new URL(url);
  complete.password = await password();
  return complete.href;
}
