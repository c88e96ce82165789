import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundleFunctions } from "../../infra/release.ts";
import { type FunctionName, functionNames } from "../../infra/release-files.ts";
import { dynamodbClient } from "../../src/aws/lock-store.ts";
import { sqsClient } from "../../src/aws/sqs-client.ts";
import { loadApps, stages, project } from "../support/own-project.ts";
import { readConfig } from "../../src/stage/config.ts";
import { startDynamodb } from "../../src/local/services/dynamodb.ts";
import { createResources, type LaneQueues } from "../../src/local/setup/resources.ts";
import type { LocalServer } from "../../src/local/services/server.ts";
import { startSqs } from "../../src/local/services/sqs.ts";
import { topology } from "../../src/stage/topology.ts";
import { resources, templateOf } from "../infra/synthesize.ts";
import { blankDatabase } from "../support/database.ts";
import { type Lambda, startLambda } from "./runtime-api.ts";

const stage = stages.emulator;
const started: { stop(): Promise<unknown> }[] = [];
let folder: string;
let database: Awaited<ReturnType<typeof blankDatabase>>;
let services: Readonly<Record<string, string>>;
let queue: LaneQueues;
let functions: ReturnType<typeof resources>;
let before: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "belfry-lambda-"));
  await bundleFunctions(folder, project, stage.apps);
  const all = topology(await loadApps(stage), stage);
  functions = resources(templateOf(all), "AWS::Lambda::Function");
  database = await blankDatabase();
  // The server of the tests is quick instead of safe, which no function would accept.
  await query(`alter database "${new URL(database.url).pathname.slice(1)}" set synchronous_commit = on`);
  const [sqs, dynamodb]: readonly LocalServer[] = await Promise.all([startSqs(), startDynamodb({ folder: null })]);
  if (sqs === undefined || dynamodb === undefined) throw new Error("the local services did not start");
  started.push(sqs, dynamodb);
  services = { AWS_ENDPOINT_URL_SQS: sqs.url, AWS_ENDPOINT_URL_DYNAMODB: dynamodb.url };
  const { aws } = readConfig({ DATABASE_URL: database.url, BELFRY_STAGE: stage.name, ...services }, project);
  const clients = { sqs: sqsClient(aws), dynamodb: dynamodbClient(aws) };
  const [first] = await createResources(clients, all, { timeScale: 1 });
  if (first === undefined) throw new Error("the stage has no lane");
  queue = first;
  for (const each of functionNames) chmodSync(join(folder, each), 0o555);
  before = written();
}, 180_000);

afterAll(async () => {
  await Promise.all(started.map((each) => each.stop()));
  await database.close();
  for (const each of functionNames) chmodSync(join(folder, each), 0o755);
  rmSync(folder, { recursive: true, force: true });
});

/** Names, sizes and times of all files of the code. */
const written = (): string =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((file) => ({ file, ...statSync(join(folder, file)) }))
    .map(({ file, size, mtimeMs }) => `${file} ${size} ${mtimeMs}`)
    .join("\n");

/** Started as the template says: its handler string, its variables by name, its timeout; only values are this machine's. */
async function start(name: FunctionName, id: RegExp): Promise<Lambda> {
  const [found, ...others] = functions.filter((fn) => id.test(fn.id));
  if (found === undefined || others.length > 0) throw new Error(`the template has not exactly one function ${id}`);
  const values: Readonly<Record<string, string>> = {
    DATABASE_URL: database.url,
    BELFRY_QUEUE_URLS: JSON.stringify({ [queue.lane.name]: queue.url }),
    BELFRY_LOCK_TABLE: "belfry-emulator-lock",
    BELFRY_DEAD_LETTER_LANES: JSON.stringify({ [queue.lane.name]: "arn:dead" }),
    BELFRY_CLUSTER: "belfry-emulator",
  };
  const { Variables } = found.Properties["Environment"] as { Variables: Record<string, unknown> };
  const env = Object.fromEntries(
    Object.entries(Variables)
      // The password is in the local URL; the secret is Lambda's way to it.
      .filter(([key]) => key !== "BELFRY_DATABASE_SECRET")
      .map(([key, value]) => [key, values[key] ?? (typeof value === "string" ? value : unknownValue(key))]),
  );
  const keys = { AWS_REGION: "us-east-1", AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" };
  const lambda = await startLambda({
    folder: join(folder, name),
    handler: String(found.Properties["Handler"]),
    env: { ...env, ...services, ...keys },
    timeoutMs: Number(found.Properties["Timeout"]) * 1_000,
  });
  started.push(lambda);
  return lambda;
}

function unknownValue(key: string): never {
  throw new Error(`the template sets ${key}, and this test has no value for it: add one`);
}

const asked = (method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) => ({
  version: "2.0",
  rawPath: path,
  rawQueryString: "",
  headers: { host: "abc.lambda-url.us-east-1.on.aws", "content-type": "application/json", ...headers },
  requestContext: {
    domainName: "abc.lambda-url.us-east-1.on.aws",
    http: { method, path, protocol: "HTTP/1.1", sourceIp: "127.0.0.1", userAgent: "test" },
    authorizer: { iam: { userArn: "arn:aws:iam::000000000000:user/ada" } },
  },
  isBase64Encoded: false,
  ...(body === undefined ? {} : { body: JSON.stringify(body) }),
});

const message = (body: string) => ({
  Records: [{ messageId: "m", body, attributes: {}, eventSourceARN: "arn:dead", eventSource: "aws:sqs" }],
});

const count = async (sql: string): Promise<number> => (await query(sql))[0]?.count ?? -1;

async function query(sql: string): Promise<readonly { count: number }[]> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  try {
    return (await client.query<{ count: number }>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function receivedBody(): Promise<string> {
  const sqs = sqsClient(readConfig({ DATABASE_URL: database.url, ...services }, project).aws);
  const receive = { QueueUrl: queue.url, WaitTimeSeconds: 5 };
  const { Messages = [] } = await sqs.call<{ Messages?: { Body: string }[] }>("ReceiveMessage", receive);
  sqs.destroy();
  return Messages[0]?.Body ?? "";
}

/** What the API's function hands to its URL. */
interface Reply {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly isBase64Encoded: boolean;
}

/** As the URL hands it on. */
const plain = (reply: Reply): Reply =>
  reply.isBase64Encoded ? { ...reply, body: Buffer.from(reply.body, "base64").toString() } : reply;

test("every bundled function does its work under the Runtime API, by the template's handler and variables", async () => {
  const migrate = await start("migrate", /MigrationMigrate/);
  const created: unknown = JSON.parse(await migrate.invoke({ RequestType: "Create" }));
  expect(created).toMatchObject({ PhysicalResourceId: "belfry-migration", Data: { Schedules: "5" } });

  const api = await start("api", /HttpApi/);
  const call = async (...request: Parameters<typeof asked>): Promise<Reply> =>
    plain(JSON.parse(await api.invoke(asked(...request))) as Reply);
  const health = await call("GET", "/health");
  expect([health.statusCode, JSON.parse(health.body)]).toMatchObject([200, { status: "ok", schedules: 5 }]);
  const page = await call("GET", "/console/");
  expect([page.statusCode, page.body]).toEqual([200, expect.stringMatching(/^<!doctype html>[\s\S]*\/console\/main-/)]);
  const script = /\/console\/main-[^"]+/.exec(page.body)?.[0] ?? "";
  expect((await call("GET", script)).headers).toMatchObject({ "content-type": "text/javascript; charset=utf-8" });
  expect((await call("POST", "/jobs", { kind: "hello", key: "once" })).statusCode).toBe(201);
  const events = await call("GET", "/events", undefined, { accept: "text/event-stream" });
  expect([events.headers["content-type"], events.body]).toEqual([
    "text/event-stream",
    expect.stringMatching(/^retry: 3000\n\nevent: snapshot\ndata: \{"jobs":\[\{.*\n\nid: \S+\n\n$/),
  ]);

  const worker = await start("worker", /LanedefaultWorker/);
  const ran: unknown = JSON.parse(await worker.invoke(message(await receivedBody())));
  expect(ran).toEqual({ batchItemFailures: [] });
  expect(await count("select count(*)::int as count from belfry.job where state = 'SUCCESS'")).toBe(1);

  const drain = await start("dead-letter", /DeadLettersDrain/);
  expect(JSON.parse(await drain.invoke(message("{not json")))).toEqual({ batchItemFailures: [] });
  expect(await count("select count(*)::int as count from belfry.quarantine")).toBe(1);
  for (const { pids } of [migrate, api, worker, drain]) expect(pids).toHaveLength(1);
  expect(written()).toBe(before);
}, 120_000);

test("a function whose time is over is killed, and the next invocation gets a process of its own", async () => {
  const migrate = await start("migrate", /MigrationMigrate/);
  await expect(migrate.invoke({ RequestType: "Update" }, { timeoutMs: 20 })).rejects.toThrow("timed out after 20 ms");
  const again: unknown = JSON.parse(await migrate.invoke({ RequestType: "Update" }));
  expect(again).toMatchObject({ PhysicalResourceId: "belfry-migration" });
  expect(new Set(migrate.pids).size).toBe(2);
}, 60_000);

test("what a worker had claimed that was killed is given back by the process that follows it there", async () => {
  const open = "select count(*)::int as count from belfry.lease";
  const api = await start("api", /HttpApi/);
  await api.invoke(asked("POST", "/jobs", { kind: "hello", key: "lost" }));
  await query(`create function refuse() returns trigger language plpgsql as $$ begin raise exception 'not now'; end $$;
    create trigger refuse before update on belfry.job for each row when (new.state = 'SUCCESS') execute function refuse()`);
  const worker = await start("worker", /LanedefaultWorker/);
  await worker.invoke(message(await receivedBody()));
  expect(await count(`${open} where until > now()`)).toBe(1);
  // It cannot answer in time, however fast the machine is.
  process.kill(worker.pids[0] ?? 0, "SIGSTOP");
  await expect(worker.invoke({ Records: [] }, { timeoutMs: 0 })).rejects.toThrow("timed out");
  await query("drop function refuse cascade");
  await worker.invoke({ Records: [] });
  expect(worker.pids).toHaveLength(2);
  expect(await count(`${open} where until = 'epoch'`)).toBe(1);
}, 60_000);

test("a function that cannot start says why", async () => {
  const broken = await startLambda({ folder, handler: "index.handler", env: {}, timeoutMs: 10_000 });
  started.push(broken);
  await expect(broken.invoke({})).rejects.toThrow(/Cannot find module/);
}, 30_000);
