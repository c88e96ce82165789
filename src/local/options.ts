export interface LocalOptions {
  /** The state folder. What is in it survives kill -9 of everything; deleting it gives a fresh system. */
  readonly home: string;
  readonly stage?: string;
  /** Its belfry.config.ts. Default: the nearest. */
  readonly project?: string;
  /** Modules whose default export is an array of apps, in place of the stage's own. */
  readonly apps?: readonly URL[];
  /** Of the API: the first that is not taken. 0 (the default) is any. A function is called once what an earlier start left has ended. */
  readonly port?: number | ((hadLeftovers: boolean) => Promise<readonly number[]>);
  readonly timeScale?: number;
  /** Of the embedded Postgres, for example `{ fsync: "off" }` in a test that does not pull the plug. */
  readonly postgresSettings?: Readonly<Record<string, string>>;
  /** Environment to read replacements from (`DATABASE_URL`, `AWS_ENDPOINT_URL*`) and to hand on. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** More environment for workers, for example a crash point. */
  readonly workerEnv?: Readonly<Record<string, string>>;
  /** Parts to leave out, for a caller that plays them. */
  readonly without?: readonly ("wakes" | "workers" | "api" | "fakes" | "watch")[];
  readonly onEvent?: (event: LocalEvent) => void;
}

/** What happens in the system, for display. */
export type LocalEvent =
  | { readonly is: "line"; readonly from: string; readonly stream: "stdout" | "stderr"; readonly line: string }
  | { readonly is: "problem"; readonly from: string; readonly what: string; readonly error: unknown }
  | { readonly is: "reloaded"; readonly file: string }
  | { readonly is: "leftovers"; readonly names: readonly string[] };
