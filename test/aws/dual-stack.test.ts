import { Agent, type ClientRequest } from "node:http";
import { project } from "../support/own-project.ts";
import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { RunTaskCommand } from "@aws-sdk/client-ecs";
import { expect, test, vi } from "vitest";
import { serviceUrl } from "../../src/aws/address.ts";
import { dynamodbClient } from "../../src/aws/lock-store.ts";
import { ecsClient } from "../../src/aws/task-launcher.ts";
import { sqsClient } from "../../src/aws/sqs-client.ts";
import { readConfig } from "../../src/stage/config.ts";
import { databaseConnection } from "../../src/compose/database.ts";
import { openSecrets } from "../../src/compose/secrets.ts";

vi.stubEnv("AWS_PROFILE", undefined);
vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE");
vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");

const QueueUrl = "https://sqs.eu-west-1.amazonaws.com/123456789012/mail";

/** Hosts that the clients would call, with the environment that a function of a dual-stack network has. */
async function hosts(environment: Readonly<Record<string, string>>): Promise<readonly string[]> {
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const { aws } = readConfig(
    { DATABASE_URL: "postgresql://db/belfry", AWS_REGION: "eu-west-1", ...environment },
    project,
  );
  const seen: string[] = [];
  const note = (next: unknown) => async (args: { request: { hostname: string } }) => {
    void next;
    seen.push(args.request.hostname);
    return Promise.reject(new Error("noted"));
  };
  const [sqs, ecs, dynamodb] = [sqsClient(aws), ecsClient(aws), dynamodbClient(aws)];
  // Where its request is handed to a socket: nothing leaves the machine.
  const sockets = Agent.prototype as unknown as { addRequest(request: ClientRequest, to: { host: string }): void };
  vi.spyOn(sockets, "addRequest").mockImplementation((request, { host }) => {
    seen.push(host);
    process.nextTick(() => request.emit("error", new Error("noted")));
  });
  const last = { step: "finalizeRequest", priority: "low" } as const;
  ecs.middlewareStack.add(note as never, last);
  dynamodb.middlewareStack.add(note as never, last);
  const calls = [
    () => sqs.call("SendMessage", { QueueUrl, MessageBody: "{}" }),
    () => ecs.send(new RunTaskCommand({ taskDefinition: "job" })),
    () => dynamodb.send(new GetItemCommand({ TableName: "locks", Key: { name: { S: "a" } } })),
  ];
  for (const call of calls) await expect(call()).rejects.toThrow("noted");
  for (const client of [sqs, ecs, dynamodb]) client.destroy();
  return seen;
}

test("without an IPv4 way out SQS and ECS are called by the names that have IPv6, DynamoDB by the one of its gateway", async () => {
  expect(await hosts({ BELFRY_DUALSTACK: "true" })).toEqual([
    "sqs.eu-west-1.api.aws",
    "ecs.eu-west-1.api.aws",
    "dynamodb.eu-west-1.amazonaws.com",
  ]);
});

test("elsewhere the names stay, and an endpoint of one's own goes before both", async () => {
  expect(await hosts({ BELFRY_DUALSTACK: "false" })).toEqual([
    "sqs.eu-west-1.amazonaws.com",
    "ecs.eu-west-1.amazonaws.com",
    "dynamodb.eu-west-1.amazonaws.com",
  ]);
  const own = { BELFRY_DUALSTACK: "true", AWS_ENDPOINT_URL: "http://127.0.0.1:4566" };
  expect(await hosts(own)).toEqual(["127.0.0.1", "127.0.0.1", "127.0.0.1"]);
});

test("a service that is called without a client has its names in every partition", () => {
  expect(serviceUrl("secretsmanager", "eu-west-1", true)).toBe("https://secretsmanager.eu-west-1.api.aws/");
  expect(serviceUrl("secretsmanager", "cn-north-1", true)).toMatch(/cn-north-1\.api\.amazonwebservices\.com\.cn\/$/);
  expect(serviceUrl("sqs", "cn-north-1", false)).toBe("https://sqs.cn-north-1.amazonaws.com.cn/");
  expect(serviceUrl("sqs", "eusc-de-east-1", false)).toBe("https://sqs.eusc-de-east-1.amazonaws.eu/");
  expect(serviceUrl("secretsmanager", "eu-west-1", false)).toBe("https://secretsmanager.eu-west-1.amazonaws.com/");
});

test("a lane's secrets, its parameters and a database's secret are read by the names that have IPv6", async () => {
  const environment = { DATABASE_URL: "postgresql://db/belfry", AWS_REGION: "eu-west-1" };
  const { aws, ...config } = readConfig({ ...environment, BELFRY_DUALSTACK: "true" }, project);
  const secret = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:key-AbCdEf";
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (url: string) => {
    asked.push(new URL(url).hostname);
    return Response.json({ SecretString: '{"password":"a"}', Parameter: { Value: "a" } });
  });
  await openSecrets({ KEY: secret, OTHER: "/prod/key" }, { ...config, ...aws }, {});
  const { password } = databaseConnection({ ...environment, BELFRY_DUALSTACK: "true", BELFRY_DATABASE_SECRET: secret });
  await (password as () => Promise<string>)();
  vi.unstubAllGlobals();
  expect(asked).toEqual([
    "secretsmanager.eu-west-1.api.aws",
    "ssm.eu-west-1.api.aws",
    "secretsmanager.eu-west-1.api.aws",
  ]);
});
