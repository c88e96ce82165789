/** Exit codes: stable, for scripts. */
export const exitCodes = {
  ok: 0,
  failure: 1,
  usage: 2,
  notFound: 3,
  auth: 4,
  conflict: 5,
  partial: 6,
  failedJob: 7,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Ends the command with a message on stderr and an exit code. Expected failures only: a bug keeps its stack. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exitCode: ExitCode;
  /** For `--json`: stable, for programs. */
  readonly code: string;
  /** One line each, shown below the message. */
  readonly details: readonly string[];
  constructor(exitCode: ExitCode, code: string, message: string, details: readonly string[] = []) {
    super(message);
    this.exitCode = exitCode;
    this.code = code;
    this.details = details;
  }
}

/** Thrown by a command that has written its result and ends with another code than 0. */
export class Finished extends Error {
  readonly exitCode: ExitCode;
  constructor(exitCode: ExitCode) {
    super(`exit code ${exitCode}`);
    this.exitCode = exitCode;
  }
}
