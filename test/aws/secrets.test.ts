import { project } from "../support/own-project.ts";
import { createServer, type Server } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { readSecret } from "../../src/adapters/aws/secrets.ts";
import { readConfig } from "../../src/config.ts";
import { listenOnLoopback } from "../../src/local/services/server.ts";
import { openRuntime } from "../../src/runtime.ts";
import { openSecrets } from "../../src/secrets.ts";

const arn = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:stripe-AbCdEf";
const value = "sk_live_that_no_log_may_have";
let server: Server;
let endpoint: string;
let asked: { target: string; body: unknown; signed: string }[];
let answers: Record<string, { status: number; body: unknown }>;

beforeAll(async () => {
  server = createServer((request, response) => {
    void (async () => {
      const target = String(request.headers["x-amz-target"]);
      const body: unknown = JSON.parse(await text(request));
      asked.push({ target, body, signed: String(request.headers["authorization"]) });
      const { status, body: answer } = answers[target] ?? {
        status: 400,
        body: { __type: "ResourceNotFoundException" },
      };
      response.writeHead(status).end(JSON.stringify(answer));
    })();
  });
  endpoint = `http://127.0.0.1:${await listenOnLoopback(server, 0, "the secrets")}/`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

beforeEach(() => {
  asked = [];
  answers = {
    "secretsmanager.GetSecretValue": { status: 200, body: { SecretString: value } },
    "AmazonSSM.GetParameter": { status: 200, body: { Parameter: { Value: "from-the-parameter" } } },
  };
  vi.stubEnv("AWS_PROFILE", undefined);
  vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "example");
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.useRealTimers();
});

const places = () => ({ region: "eu-west-1", secretsEndpoint: endpoint, ssmEndpoint: endpoint });

test("a secret is read by its ARN, a parameter by its path and decrypted, both signed", async () => {
  expect(await readSecret(arn, places())).toBe(value);
  expect(await readSecret("/prod/key", places())).toBe("from-the-parameter");
  expect(asked).toMatchObject([
    { target: "secretsmanager.GetSecretValue", body: { SecretId: arn } },
    { target: "AmazonSSM.GetParameter", body: { Name: "/prod/key", WithDecryption: true } },
  ]);
  expect(asked.map(({ signed }) => /\/(secretsmanager|ssm)\/aws4_request/.exec(signed)?.[1])).toEqual([
    "secretsmanager",
    "ssm",
  ]);
});

test("one that cannot be read is named with the service's answer, and one without text too", async () => {
  answers = {};
  await expect(readSecret(arn, places())).rejects.toThrow(`the secret ${arn} could not be read: 400 ResourceNotFound`);
  answers = { "secretsmanager.GetSecretValue": { status: 200, body: { SecretBinary: "aGk=" } } };
  await expect(readSecret(arn, places())).rejects.toThrow("has no text");
});

test("values are read once at the start, and a rotated one after five minutes; a failure keeps the last", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const secrets = await openSecrets({ KEY: arn }, places(), { LOCAL: "from .env" });
  expect([secrets.get("KEY"), secrets.get("LOCAL"), secrets.get("NONE")]).toEqual([value, "from .env", undefined]);
  answers["secretsmanager.GetSecretValue"] = { status: 200, body: { SecretString: "rotated" } };
  expect([await secrets.refresh(), secrets.get("KEY"), asked.length]).toEqual([null, value, 1]);
  vi.advanceTimersByTime(301_000);
  expect([await secrets.refresh(), secrets.get("KEY")]).toEqual([null, "rotated"]);
  answers = {};
  vi.advanceTimersByTime(301_000);
  expect(await secrets.refresh()).toBeInstanceOf(Error);
  expect(secrets.get("KEY")).toBe("rotated");
});

const environment = {
  BELFRY_STAGE: "dev",
  DATABASE_URL: "postgresql://127.0.0.1/belfry",
  AWS_ENDPOINT_URL: "http://127.0.0.1:9",
  BELFRY_APPS: new URL("secrets-app.ts", import.meta.url).href,
};

test("a worker does not start without what its jobs read, and says all that is missing", async () => {
  await expect(openRuntime(readConfig(environment, project), { role: "worker", lane: "mail" })).rejects.toThrow(
    /environment\.MAIL_FROM[\s\S]*secrets\.STRIPE_KEY/,
  );
  const other = await openRuntime(readConfig(environment, project), { role: "worker", lane: "default" });
  await other.close();
});

test("a worker that has them starts, by reference or from the environment of the machine", async () => {
  vi.stubEnv("MAIL_FROM", "a@example.com");
  const config = readConfig(
    {
      ...environment,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: endpoint,
      BELFRY_SECRETS: JSON.stringify({ STRIPE_KEY: arn }),
    },
    project,
  );
  const deployed = await openRuntime(config, { role: "worker", lane: "mail" });
  expect(deployed.ports.secret?.("STRIPE_KEY")).toBe(value);
  expect(JSON.stringify([config, process.env])).not.toContain(value);
  await deployed.close();
  vi.stubEnv("STRIPE_KEY", "from .env");
  const local = await openRuntime(readConfig(environment, project), { role: "worker", lane: "mail" });
  expect(local.ports.secret?.("STRIPE_KEY")).toBe("from .env");
  await local.close();
});

test("the webhook's secret may be kept elsewhere, and is missing otherwise", () => {
  const webhook = { ...environment, BELFRY_EVENT_WEBHOOK: "https://events.example.com/" };
  expect(() => readConfig(webhook, project)).toThrow(/BELFRY_EVENT_WEBHOOK_SECRET/);
  const kept = readConfig({ ...webhook, BELFRY_SECRETS: '{"BELFRY_EVENT_WEBHOOK_SECRET":"/dev/webhook"}' }, project);
  expect(kept.eventSink).toEqual({ kind: "webhook", url: "https://events.example.com/", secrets: null });
});
