import { FenceLost } from "../machine/fence.ts";
import { StoreAway, UnknownOutcome } from "../machine/transaction.ts";

/** An error of Postgres, with its SQLSTATE and what was being done. */
export class DatabaseError extends Error {
  override readonly name: string = "DatabaseError";
  readonly code: string;
  readonly constraint: string | null;
  constructor(message: string, options: { code: string; constraint?: string | null; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.code = options.code;
    this.constraint = options.constraint ?? null;
  }
}

/** Postgres cannot be used now, so nothing was done. `code` is its SQLSTATE or the socket's error, if there is one. */
export class DatabaseUnavailable extends StoreAway {
  override readonly name = "DatabaseUnavailable";
  readonly code: string;
  constructor(message: string, options: { code?: string; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.code = options.code ?? "";
  }
}

/** The server or its tables are not what this code needs; starting on them is refused. The message says what to do. */
export class DatabaseUnfit extends Error {
  override readonly name = "DatabaseUnfit";
}

const advice: Readonly<Record<string, string>> = {
  "28P01": "the password was refused: check the user and password in DATABASE_URL",
  "28000": "the user was refused: check DATABASE_URL and pg_hba.conf, and whether the server wants TLS",
  "3D000": "the database does not exist: check the last part of DATABASE_URL, or create it",
  "3F000": "the tables are missing: run `npx belfry migrate`",
  "42P01": "a table is missing: run `npx belfry migrate`",
  "42703": "a column is missing, so the database is at another schema version: run `npx belfry migrate`",
  "40001": "another transaction changed the same rows; begin it again, or use READ COMMITTED",
  "40P01":
    "another transaction had locked the same rows in another order; begin it again, and enqueue what it debounces in one call",
  "42501": "the user lacks a permission: grant it, or use the owner of the schema belfry",
  "57P03": "the server is starting up or recovering; the call may be repeated",
  "53100": "the server's disk is full: free or add space",
  "53200": "the server has no memory left: lower the pools or take a larger one",
  "53300": "the server has no connection left: lower the pools or raise max_connections",
  "55P03": "another transaction held the row too long; nothing was done, and it may be tried again",
  "25006": "the server is read-only: use the writer endpoint in DATABASE_URL",
};

/** The server refused for a temporary reason: the statement did nothing. */
const passing = new Set(["53100", "53200", "53300", "57P03", "25006"]);

const unreachable = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH"]);

/** Converts an error of the driver to one that says what was being done and what to change. */
export function toStoreError(error: unknown, doing: string): Error {
  if (isOurs(error)) return error;
  const code = codeOf(error);
  const text = error instanceof Error ? error.message : String(error);
  if (passing.has(code)) {
    return new DatabaseUnavailable(`${doing} failed with ${code}: ${text}; ${advice[code] ?? ""}`, {
      code,
      cause: error,
    });
  }
  if (isOfServer(error, code) && !isBroken(code)) {
    const more = advice[code];
    const constraint = textOf(error, "constraint");
    return new DatabaseError(`${doing} failed with ${code}: ${text}${more === undefined ? "" : `; ${more}`}`, {
      code,
      constraint,
      cause: error,
    });
  }
  if (error instanceof TypeError || error instanceof RangeError) return error;
  return new UnknownOutcome(
    `${doing}: the connection to Postgres broke (${text}), so it is not known whether it happened`,
    {
      cause: error,
    },
  );
}

/** The failure to get a connection: nothing was done. */
export function unavailable(error: unknown, where: string): Error {
  if (isOurs(error)) return error;
  const code = codeOf(error);
  const text = error instanceof Error ? error.message : String(error);
  if (/timeout exceeded when trying to connect/.test(text)) {
    return new DatabaseUnavailable(
      `no connection to Postgres at ${where} became free in time: the pool is too small for what runs at once, or the database is too slow`,
      { code: "pool", cause: error },
    );
  }
  const more =
    advice[code] ?? (unreachable.has(code) ? "is it running, and is DATABASE_URL right?" : "check DATABASE_URL");
  return new DatabaseUnavailable(`cannot use Postgres at ${where}: ${text || code}; ${more}`, { code, cause: error });
}

/** Serialization failure or deadlock: the transaction did nothing and may simply run again. */
export const isRetryable = (error: unknown): boolean =>
  error instanceof DatabaseError && (error.code === "40001" || error.code === "40P01");

/**
 * The next statement needs another connection: this one broke or its session was ended, or its server is in recovery and another
 * one, or the same after its promotion, takes the writes.
 */
export const endsConnection = (error: unknown): boolean =>
  error instanceof UnknownOutcome || /^(08...|57P0.|25006)$/.test(codeOf(error));

/** The data itself was refused: a value out of range, text Postgres cannot store, a constraint. */
export const isDataError = (error: unknown): boolean =>
  error instanceof DatabaseError && (error.code.startsWith("22") || error.code.startsWith("23"));

export const isLockTimeout = (error: unknown): boolean => error instanceof DatabaseError && error.code === "55P03";

const isOurs = (error: unknown): error is Error =>
  error instanceof DatabaseError ||
  error instanceof DatabaseUnavailable ||
  error instanceof UnknownOutcome ||
  error instanceof FenceLost;

/** `EPIPE`, of a socket whose other end is gone, looks like a SQLSTATE: errors of sockets name their call. */
const isOfServer = (error: unknown, code: string): boolean =>
  /^[0-9A-Z]{5}$/.test(code) && !(error instanceof Error && "syscall" in error);

/** Class 08 and the shutdown codes end the session: whether a commit got through is not known. */
const isBroken = (code: string): boolean => code.startsWith("08") || /^57P0[1245]$/.test(code);

/** The SQLSTATE, or the code of the socket; empty when there is none. */
export const codeOf = (error: unknown): string => textOf(error, "code") ?? "";

function textOf(error: unknown, member: "code" | "constraint"): string | null {
  const { [member]: text }: Partial<Record<typeof member, unknown>> = Object(error);
  return typeof text === "string" ? text : null;
}
