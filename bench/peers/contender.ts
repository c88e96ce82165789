/** What every contender can do, in a process of its own. Jobs are numbered, so that a lost or doubled one is seen. */
export interface Contender {
  /** Writes these jobs in one call, by the contender's best means for as many. Resolves when they are durable. */
  insert(numbers: readonly number[]): Promise<void>;
  /** Begins to work off what is there and what comes. `onStart` is called as each handler starts. */
  work(onStart: (n: number) => void): Promise<void>;
  /** Ends the workers after what they have in hand. */
  rest(): Promise<void>;
  /** Forgets what the process knows about jobs: their tables have been emptied. */
  forget(): void;
  close(): Promise<void>;
}

/** What its process is started with, as JSON in the first argument. */
export interface Setting {
  readonly name: ContenderName;
  readonly url: string;
  /** The folder whose `node_modules` has the peers. */
  readonly peers: string;
  /** The SQS API, for the contender that goes through it. */
  readonly sqs: string | null;
}

export const contenderNames = ["roof", "belfry", "belfry-sqs", "graphile-worker", "pg-boss"] as const;
export type ContenderName = (typeof contenderNames)[number];

/** As the contenders call themselves to Postgres, so that the bench's own connection is not counted. */
export const contenderApplication = "bench contender";

/** What a process is asked to do. */
export type Ask =
  | {
      readonly do: "run";
      /** Null inserts nothing. */
      readonly insert: { readonly first: number; readonly count: number; readonly perCall: number } | null;
      /** How many jobs its workers must start; 0 starts no workers. */
      readonly work: number;
    }
  | { readonly do: "stop" }
  | { readonly do: "idle"; readonly samples: number }
  | { readonly do: "loaded"; readonly samples: number; readonly perSecond: number }
  | { readonly do: "forget" }
  | { readonly do: "close" };

/** How it answers. A `run` answers when all is inserted and all handlers have started; `stop` ends its workers. */
export type Answer =
  | { readonly did: "run"; readonly insertMs: number }
  | { readonly did: "stop"; readonly nodeUs: number; readonly started: number; readonly starts: number }
  | { readonly did: "latency"; readonly ms: readonly number[] }
  | { readonly did: "nothing" }
  | { readonly failed: string };
