import { expect, onTestFinished, test, vi } from "vitest";
import { readSecret } from "../../src/aws/secrets.ts";
import { readConfig } from "../../src/stage/config.ts";
import { openRuntime } from "../../src/compose/runtime.ts";
import { openSecrets } from "../../src/compose/secrets.ts";
import { project } from "../support/own-project.ts";
import { secretOf, serveSecrets } from "./secrets-server.ts";

const arn = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:stripe-AbCdEf";
const value = "sk_live_that_no_log_may_have";
const getSecret = "secretsmanager.GetSecretValue";

async function open(answers = { [getSecret]: secretOf(value) }) {
  const served = await serveSecrets(answers);
  const places = { region: "eu-west-1", secretsEndpoint: served.url, ssmEndpoint: served.url };
  return { ...served, places };
}

test("a secret is read by its ARN, a parameter by its path and decrypted, both signed", async () => {
  const { answers, calls, places } = await open();
  answers["AmazonSSM.GetParameter"] = { status: 200, body: { Parameter: { Value: "from-the-parameter" } } };
  expect(await readSecret(arn, places)).toBe(value);
  expect(await readSecret("/prod/key", places)).toBe("from-the-parameter");
  expect(calls.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
    { SecretId: arn },
    { Name: "/prod/key", WithDecryption: true },
  ]);
  expect(calls.map(({ headers }) => /\/(\w+)\/aws4_request/.exec(headers.authorization ?? "")?.[1])).toEqual([
    "secretsmanager",
    "ssm",
  ]);
});

test("one that cannot be read is named with the service's answer, and one without text too", async () => {
  const { answers, places } = await open();
  delete answers[getSecret];
  await expect(readSecret(arn, places)).rejects.toThrow(`the secret ${arn} could not be read: 400 ResourceNotFound`);
  answers[getSecret] = { status: 200, body: { SecretBinary: "aGk=" } };
  await expect(readSecret(arn, places)).rejects.toThrow("has no text");
});

test("values are read once at the start, and a rotated one after five minutes; a failure keeps the last", async () => {
  const { answers, calls, places } = await open();
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const secrets = await openSecrets({ KEY: arn }, places, { LOCAL: "from .env" });
  expect([secrets.get("KEY"), secrets.get("LOCAL"), secrets.get("NONE")]).toEqual([value, "from .env", undefined]);
  answers[getSecret] = secretOf("rotated");
  expect([await secrets.refresh(), secrets.get("KEY"), calls.length]).toEqual([null, value, 1]);
  vi.advanceTimersByTime(301_000);
  expect([await secrets.refresh(), secrets.get("KEY")]).toEqual([null, "rotated"]);
  delete answers[getSecret];
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
  const { url } = await open();
  vi.stubEnv("MAIL_FROM", "a@example.com");
  const config = readConfig(
    {
      ...environment,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: url,
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
