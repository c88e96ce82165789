/**
 * A system of the real entry points on a real Postgres: the functions' handlers and the tasks' commands, as Lambda, ECS and
 * the queues call them. What they write to stdout is what CloudWatch would read.
 */
import type { Tally } from "../../src/machine/ports.ts";
import { stages, project } from "../support/own-project.ts";
import type { Stage } from "../../src/stage/stages.ts";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { vi } from "vitest";
import { dynamodbClient } from "../../src/aws/lock-store.ts";
import { type SqsClient, sqsClient } from "../../src/aws/sqs-client.ts";
import { readConfig } from "../../src/stage/config.ts";
import type { JobId } from "../../src/machine/job.ts";
import { startDynamodb } from "../../src/local/services/dynamodb.ts";
import { startSqs } from "../../src/local/services/sqs.ts";
import { createSourceQueue } from "../../src/local/lambda/event-source.ts";
import { createResources, type LaneQueues } from "../../src/local/setup/resources.ts";
import { topology } from "../../src/stage/topology.ts";
import { freshDatabase, type TestDatabase } from "../support/database.ts";
import { app, fault, type Act } from "./alarm-app.ts";

/** A stage in which every alarm is made. */
const stage: Stage = {
  ...stages.dev,
  onLockOutage: "skip",
  archive: { format: "ndjson" },
  eventWebhook: { url: "https://events.example.com/", secret: "/dev/webhook" },
};
export const watched = topology([app], stage);

interface Invoked {
  readonly statusCode: number;
  readonly body: string;
}
type Handler = (event: unknown, context: { getRemainingTimeInMillis(): number }) => Promise<never>;

/** What ECS and the receiver of events answer now. */
export const outside = {
  runTask: (): { status: number; body: unknown } => ({ status: 200, body: { tasks: [{ taskArn: "arn:task/c/t1" }] } }),
  tasksSince: null as number | null,
  schedulerTasksSince: null as number | null,
  webhookStatus: 204,
};

export class AlarmWorld {
  readonly database: TestDatabase;
  readonly tally: Tally;
  readonly statuses: number[] = [];
  /** The command of the task that was launched last. */
  launched: readonly string[] = [];
  readonly #queues: readonly LaneQueues[];
  readonly #sqs: SqsClient;
  readonly #stops: (() => Promise<unknown>)[];
  #functions: Readonly<Record<"worker" | "mail" | "drain" | "api", Handler>> | null = null;

  private constructor(parts: {
    database: TestDatabase;
    queues: readonly LaneQueues[];
    sqs: SqsClient;
    stops: (() => Promise<unknown>)[];
  }) {
    this.database = parts.database;
    this.tally = parts.database.tally;
    this.#queues = parts.queues;
    this.#sqs = parts.sqs;
    this.#stops = parts.stops;
  }

  static async open(): Promise<AlarmWorld> {
    const database = await freshDatabase({ own: true });
    // The server of the tests is quick instead of safe, which no function would accept.
    await database.pool.query(
      `alter database "${new URL(database.url).pathname.slice(1)}" set synchronous_commit = on`,
    );
    const [sqs, dynamodb] = await Promise.all([startSqs(), startDynamodb({ folder: null })]);
    const world: { current: AlarmWorld | null } = { current: null };
    const ecs = await listen((request, body) => ecsAnswer(request, body, world.current));
    const hook = await listen(async () => ({ status: outside.webhookStatus, body: "" }));
    const place = { cluster: "c", taskDefinition: "job", container: "Job", subnets: ["s"], securityGroups: ["g"] };
    const variables = {
      BELFRY_STAGE: stage.name,
      BELFRY_SYSTEM: `belfry-${stage.name}`,
      DATABASE_URL: database.url,
      BELFRY_APPS: new URL("alarm-app.ts", import.meta.url).href,
      BELFRY_TASKS: JSON.stringify({ ...place, assignPublicIp: false }),
      BELFRY_EVENT_WEBHOOK: hook.url,
      BELFRY_EVENT_WEBHOOK_SECRET: "a secret that is long enough",
      BELFRY_LOG_LEVEL: "silent",
      BELFRY_PASS_MS: "0",
      BELFRY_LOCK_LEASE_MS: "1000",
      AWS_REGION: "us-east-1",
      AWS_ACCESS_KEY_ID: "test",
      AWS_SECRET_ACCESS_KEY: "test",
      AWS_ENDPOINT_URL_SQS: sqs.url,
      AWS_ENDPOINT_URL_DYNAMODB: dynamodb.url,
      AWS_ENDPOINT_URL_ECS: ecs.url,
      ECS_CONTAINER_METADATA_URI_V4: ecs.url,
    };
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
    const { aws } = readConfig(process.env, project);
    const clients = { sqs: sqsClient(aws), dynamodb: dynamodbClient(aws) };
    const queues = await createResources(clients, watched, { timeScale: 1 });
    const stops = [() => database.close(), () => sqs.stop(), () => dynamodb.stop(), ecs.stop, hook.stop];
    world.current = new AlarmWorld({ database, queues, sqs: clients.sqs, stops });
    await world.current.#start();
    return world.current;
  }

  /** Each function as its file is deployed: what it reads from its environment, it reads once. */
  async #start(): Promise<void> {
    const { handler: migrate } = await import("../../functions/migrate.ts");
    await migrate({ RequestType: "Create" });
    const worker = async (lane: string): Promise<Handler> => {
      vi.stubEnv("BELFRY_LANE", lane);
      vi.resetModules();
      const { handler } = await import("../../functions/worker.ts");
      vi.stubEnv("BELFRY_LANE", "");
      return handler as unknown as Handler;
    };
    this.#functions = {
      mail: await worker("mail"),
      worker: await worker("default"),
      drain: (await import("../../functions/dead-letter.ts")).handler as unknown as Handler,
      api: (await import("../../functions/api.ts")).handler as Handler,
    };
    await this.call("POST", "/schedules/ruled/pause", {});
  }

  async close(): Promise<void> {
    for (const stop of this.#stops) await stop();
    vi.unstubAllEnvs();
  }

  /** Empty tables and queues: what is counted from now on is this fault's. The clock only goes on, or schedules would wait for it. */
  async begin(act: Act = async () => {}): Promise<void> {
    const jobs = ["job", "lease", "event", "history", "outbox", "occurrence", "quarantine", "queue_observation"];
    const all = [
      ...jobs,
      "run",
      "edge",
      "run_done",
      "run_delta",
      "pred_delta",
      "fallback_lock",
      "minute",
      "kind_total",
    ];
    all.push("batch_count", "reader");
    await this.sql(all.map((table) => `delete from belfry.${table};`).join(""));
    await this.sql("update belfry.slot set job_id = null, attempt = null, kept_for = null, free_from = null");
    for (const { url } of this.#queues) await this.#sqs.call("PurgeQueue", { QueueUrl: url });
    Object.assign(outside, { runTask: acceptTask, tasksSince: null, schedulerTasksSince: null, webhookStatus: 204 });
    fault.act = act;
    this.statuses.length = 0;
    await this.tally.rollUp(10);
  }

  sql = async (text: string): Promise<unknown> => await this.database.pool.query(text);

  /** Through the API's function. */
  async call(method: string, path: string, body?: unknown): Promise<Invoked> {
    const domainName = "abc.lambda-url.us-east-1.on.aws";
    const http = { method, path, protocol: "HTTP/1.1", sourceIp: "127.0.0.1", userAgent: "test" };
    const authorizer = { iam: { userArn: "arn:aws:iam::000000000000:user/ada" } };
    const answer: Invoked = await this.#invoke("api", {
      version: "2.0",
      rawPath: path,
      rawQueryString: "",
      headers: { host: domainName, "content-type": "application/json" },
      requestContext: { domainName, http, authorizer },
      isBase64Encoded: false,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    this.statuses.push(answer.statusCode);
    return answer;
  }

  async enqueue(kind: string, count = 1): Promise<void> {
    for (let n = 0; n < count; n += 1) {
      const { statusCode, body } = await this.call("POST", "/jobs", { kind });
      if (statusCode !== 201) throw new Error(`POST /jobs ${kind}: ${statusCode} ${body}`);
    }
  }

  /** As the event source mapping of a lane does, until no job of it is due: the API may send a message after its answer. */
  async work(name: "worker" | "mail" = "worker"): Promise<void> {
    const lane = name === "mail" ? "mail" : "default";
    const url = this.#queues.find((queue) => queue.lane.name === lane)?.url;
    await vi.waitFor(
      async () => {
        await this.#deliver(name, url);
        const due = `select id from belfry.job where lane = $1 and state = 'QUEUED' and due_at <= belfry.now()`;
        const { rowCount } = await this.database.pool.query(due, [lane]);
        if (rowCount !== 0) throw new Error(`${rowCount} jobs of lane ${lane} are still due`);
      },
      { timeout: 60_000, interval: 50 },
    );
  }

  async #deliver(name: "worker" | "mail", url = ""): Promise<void> {
    const queue = createSourceQueue({ client: this.#sqs, url, region: "us-east-1" });
    for (;;) {
      const Records = await queue.receive(10, { waitSeconds: 0, signal: new AbortController().signal });
      if (Records.length === 0) return;
      await this.#invoke(name, { Records });
      await queue.delete(Records);
    }
  }

  drain = async (bodies: readonly string[]): Promise<unknown> =>
    await this.#invoke("drain", { Records: bodies.map((body, n) => ({ messageId: `m${n}`, body })) });

  /** A scheduler task that finds everything added up, which in a deployment takes a second or two. */
  async pass(): Promise<unknown> {
    await vi.waitFor(async () => this.#isAddedUp(), { timeout: 60_000, interval: 50 });
    const { pass } = await import("../../scheduler-task/pass.ts");
    return pass(new AbortController().signal);
  }

  async #isAddedUp(): Promise<void> {
    await this.tally.rollUp(1_000);
    const { rows } = await this.database.pool.query<{ left: number }>(`select
      (select count(*) from belfry.event, belfry.reader where name = 'roll-up' and xid >= upto::xid8)
      + (select count(*) from belfry.batch_count) as left`);
    if (Number(rows[0]?.left) > 0) throw new Error("events are not added up yet");
  }

  async runSchedule(id: string): Promise<unknown> {
    const { runScheduleById } = await import("../../scheduler-task/run-schedule.ts");
    return runScheduleById(id, new AbortController().signal);
  }

  /** The task that a worker launched last. */
  async runLaunched(): Promise<unknown> {
    const { runTry } = await import("../../scheduler-task/run-job.ts");
    const [, jobId = "", attempt = "", from = ""] = this.launched;
    return runTry({ jobId: jobId as JobId, attempt: Number(attempt), from }, new AbortController().signal);
  }

  async #invoke<T>(name: "worker" | "mail" | "drain" | "api", event: unknown): Promise<T> {
    if (this.#functions === null) throw new Error("the functions were not started");
    return await this.#functions[name](event, { getRemainingTimeInMillis: () => 900_000 });
  }
}

const acceptTask = outside.runTask;

async function ecsAnswer(request: IncomingMessage, body: string, world: AlarmWorld | null) {
  if (request.url === "/task") return { status: 200, body: { TaskARN: "c/own", Cluster: "c", Family: "own" } };
  const target = String(request.headers["x-amz-target"]).split(".").at(-1);
  if (target === "RunTask") {
    const { overrides } = JSON.parse(body) as { overrides: { containerOverrides: { command: string[] }[] } };
    if (world !== null) world.launched = overrides.containerOverrides[0]?.command ?? [];
    return outside.runTask();
  }
  const [taskArn, since] = body.includes("own") ? ["c/own", outside.schedulerTasksSince] : ["c/t1", outside.tasksSince];
  if (target === "ListTasks") return { status: 200, body: { taskArns: since === null ? [] : [taskArn] } };
  return { status: 200, body: { tasks: since === null ? [] : [{ taskArn, createdAt: since }] } };
}

type Answer = { readonly status: number; readonly body: unknown };

async function listen(
  answer: (request: IncomingMessage, body: string) => Promise<Answer>,
): Promise<{ url: string; stop: () => Promise<unknown> }> {
  const server: Server = createServer((request, response) => {
    void (async () => {
      const { status, body } = await answer(request, Buffer.concat(await request.toArray()).toString());
      response.writeHead(status, { "content-type": "application/x-amz-json-1.1" });
      response.end(body === "" ? "" : JSON.stringify(body));
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const stop = async () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
}
