import { z } from "zod";
import { createApi } from "../../src/api/api.ts";
import type { ApiOptions } from "../../src/api/options.ts";
import { marksToKeep } from "../../src/api/sensitive.ts";
import { defineApp } from "../../src/define/define-app.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { defineSchedule } from "../../src/define/define-schedule.ts";
import { type AppDefinition, registry } from "../../src/define/definition.ts";
import { createClient } from "../../src/run/enqueue.ts";
import type { JobId } from "../../src/machine/job.ts";
import type { Log } from "../../src/machine/ports.ts";
import { createMemoryLockStore } from "../../src/testing/memory-lock-store.ts";
import { ownSeals } from "../../src/testing/own-seals.ts";
import { createMemoryQueue } from "../../src/testing/memory-queue.ts";
import { onTestFinished } from "vitest";
import { createClock } from "../../src/outside/clock.ts";
import { type Caller } from "../../src/api/caller.ts";
import { documented, type OpenApiDocument } from "./documented.ts";
import type { Database } from "../../src/insight/sql-query.ts";
import { freshDatabase } from "../support/database.ts";
import { writeMarks } from "../../src/insight/secrecy.ts";

const greet = defineJob({
  id: "greet",
  payload: z.object({ name: z.string().min(1), loud: z.boolean().default(false) }),
  run() {},
});
export const ping = defineJob({ id: "ping", run() {} });
const shout = defineJob({ id: "shout", concurrency: 2, run() {} });
const pingSchedule = defineSchedule({ id: "ping-often", every: "10m", run: ping });
export const app = defineApp({ name: "tests", jobs: [greet, ping, shout], schedules: [pingSchedule] });

export const startOfTime = Date.UTC(2026, 10, 21, 8);
const stage = "dev";

interface Options extends Pick<ApiOptions, "endsStreams" | "saves"> {
  readonly caller?: Caller | null;
  readonly own?: boolean;
  /** Whether the clock goes on from real time, as the clock of a browser does. Default false: it stands until a test moves it. */
  readonly ticks?: boolean;
  /** Takes what closes the database. Default: it is closed with the test. */
  readonly closes?: (close: () => Promise<void>) => void;
}

/** The document that most tests hold answers to: making it and compiling its schemas costs more than they do. */
const usualApps = [app];
let usualDocument: OpenApiDocument | null = null;

/** The API on a fresh database, with a clock that stands still until a test moves it. */
export async function openApi(apps: readonly AppDefinition[] = usualApps, options: Options = {}) {
  let nowMs = startOfTime;
  const database = await freshDatabase({ own: options.own ?? false });
  const { store, pool } = database;
  (options.closes ?? onTestFinished)(() => database.close());
  if (options.ticks !== true) {
    await pool.query("update belfry.test_clock set origin = clock_timestamp(), rate = 0");
    await pool.query("update belfry.test_clock set shift = to_timestamp($1::float8 / 1000) - origin", [startOfTime]);
  }
  const logged: { message: string; fields: unknown }[] = [];
  const write = (message: string, fields?: unknown): unknown => logged.push({ message, fields });
  const log: Log = { debug: write, info: write, warn: write, error: write, child: () => log };
  let ids = 0;
  const ports = {
    store,
    queue: createMemoryQueue({ elapsedMs: () => nowMs }),
    locks: createMemoryLockStore(),
    clock: { ...createClock(1), elapsedMs: () => nowMs },
    random: { next: () => 0.5, id: () => `trace-${(ids += 1)}` },
    log,
    metrics: { add: () => undefined, flush: () => undefined },
    seals: ownSeals(),
  };
  await store.installSchedules([pingSchedule.spec(stage, "tests")]);
  const insight: Database = { ...database.insight };
  await insight.run(writeMarks, marksToKeep(registry(apps).jobs.values()));
  const client = createClient(ports);
  const apiOptions: ApiOptions = {
    ...(options.saves === undefined ? {} : { saves: options.saves }),
    ...(options.endsStreams === undefined ? {} : { endsStreams: options.endsStreams }),
    ports,
    insight,
    registry: registry(apps),
    lanes: [{ name: "default", concurrency: 2, batchSize: 10, functionTimeoutSeconds: 60, memoryMb: 512 }],
    locks: ports.locks,
    identify: () => (options.caller === undefined ? { name: "ada", role: "operate" } : options.caller),
    client,
    version: "1.2.3",
    schemaVersion: () => Promise.resolve(1),
  };
  const api = createApi(apiOptions);
  const isUsual = apps === usualApps && options.caller === undefined;
  const served = () => api.fetch(new Request("http://127.0.0.1/openapi.json", { headers: jsonHeaders }));
  const document = (isUsual ? usualDocument : null) ?? ((await (await served()).json()) as OpenApiDocument);
  if (isUsual) usualDocument = document;
  const documentation = documented(document);
  const advance = async (ms: number): Promise<void> => {
    nowMs += ms;
    await database.clock.advance(ms);
  };
  return {
    api,
    database,
    store,
    tally: database.tally,
    insight,
    pool,
    ports,
    client,
    logged,
    advance,
    documentation,
    options: apiOptions,
    call: caller(api, documentation),
  };
}

/** The members that tests read of an answer, whatever it is; what is not there is undefined all the same. */
export interface AnswerBody {
  readonly removedJobs: number;
  readonly id: JobId;
  readonly code: string;
  readonly payload: { readonly name: string };
  readonly dueAt: string;
  readonly databaseTime: string;
  readonly requestId: string;
  readonly detail: string;
  readonly events: readonly { readonly to: string }[];
  readonly errors: readonly { readonly path: string }[];
  readonly jobs: readonly { readonly key: string }[];
  readonly runs: readonly { readonly id: string }[];
  readonly tasks: readonly { readonly job: string }[];
  readonly nextCursor: string | null;
}

export interface Answer {
  readonly status: number;
  readonly type: string | null;
  readonly body: AnswerBody;
}

type Headers = Readonly<Record<string, string>>;
const jsonHeaders: Headers = { host: "127.0.0.1:4400", "content-type": "application/json" };

function caller(api: ReturnType<typeof createApi>, documentation: ReturnType<typeof documented>) {
  return async (method: string, path: string, body?: unknown, headers: Headers = jsonHeaders): Promise<Answer> => {
    const content = body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) };
    const response = await api.fetch(new Request(`http://127.0.0.1${path}`, { method, headers, ...content }));
    const answer = (await response.json()) as AnswerBody;
    documentation.check(method, path, response, answer);
    return { status: response.status, type: response.headers.get("content-type"), body: answer };
  };
}
