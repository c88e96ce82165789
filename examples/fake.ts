/**
 * The outside targets of the examples, in a process apart and each with an append-only ledger, so that what
 * really happened can be judged without asking the system that did it.
 *
 * The contract with the process that starts them (`src/local`, after the apps' migrations):
 *
 * - entries with `once` run as `node <file>` to their end, one after another, when the others serve: what a seed writes may be
 *   tried at once; a non-zero exit code is a failed start. The others begin when their file is imported, all in one process;
 * - they are given `DATABASE_URL`, `BELFRY_STAGE`, `AWS_REGION`, `AWS_ENDPOINT_URL_SQS` (and credentials) like a worker, and
 *   `FAKE_HOME`: an existing folder that outlives restarts; a ledger is `<FAKE_HOME>/<name>.jsonl`;
 * - the others listen on `HOST` (unset: 127.0.0.1) at the port that `PORTS`, a JSON object, has for their name (none: any free
 *   port; on a restart give the port it had) and print one line `{"ready": "<its name here>", "env": {...}}` on stdout when they serve.
 *   That `env` (their addresses) is added to the environment of every worker and scheduler task. Later lines, and stderr, are logs;
 * - SIGTERM makes them exit with code 0.
 */
export interface Fake {
  readonly name: string;
  readonly file: URL;
  /** Runs to its end and exits: a seed. Safe to run again. */
  readonly once: boolean;
  /** By which its users find it, for who has to know before it runs; a seed, and who only looks on, has none. */
  readonly address?: FakeAddress;
}

export interface FakeAddress {
  /** The variable of their environment. */
  readonly variable: string;
  readonly scheme: "http" | "smtp";
}
