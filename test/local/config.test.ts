import { describe, expect, it } from "vitest";
import { project } from "../support/own-project.ts";
import { type Config, readConfig } from "../../src/stage/config.ts";
import { DefinitionProblems } from "../../src/define/problem.ts";

const local = {
  DATABASE_URL: "postgresql://belfry:secret@127.0.0.1:5432/belfry",
  AWS_ENDPOINT_URL: "http://127.0.0.1:4566",
};

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    readConfig(environment, project);
    return [];
  } catch (error) {
    if (!(error instanceof DefinitionProblems)) throw error;
    return error.problems.map(({ field, value, rule }) => `${field} ${value} ${rule}`);
  }
}

describe("the configuration", () => {
  it("needs a database and nothing else where endpoints replace the services", () => {
    const config = readConfig(local, project);
    expect(config).toMatchObject({
      stage: { name: "dev" },
      aws: { region: "us-east-1", sqsEndpoint: "http://127.0.0.1:4566", dynamodbEndpoint: "http://127.0.0.1:4566" },
      lockLeaseMs: 30_000,
      passMs: 55_000,
      crashPlans: [],
      timeScale: 1,
    } satisfies Partial<Record<keyof Config, unknown>>);
  });

  it("lets the endpoint of one service win over the common one", () => {
    const { aws } = readConfig({ ...local, AWS_ENDPOINT_URL_SQS: "http://127.0.0.1:1" }, project);
    expect([aws.sqsEndpoint, aws.dynamodbEndpoint]).toEqual(["http://127.0.0.1:1", "http://127.0.0.1:4566"]);
  });

  it("treats an empty variable as one that is not set", () => {
    expect(readConfig({ ...local, BELFRY_STAGE: "", AWS_REGION: "" }, project).stage.name).toBe("dev");
  });

  it("reports every problem at once, with name, value and rule", () => {
    const found = problemsOf({
      BELFRY_STAGE: "nowhere",
      AWS_ENDPOINT_URL: "localhost",
      BELFRY_PASS_MS: "soon",
      BELFRY_POOL_SIZE: "0",
    });
    expect(found).toEqual([
      'BELFRY_STAGE "nowhere" must be a stage of belfry.config.ts: dev, examples, demo, emulator, smoke, systems, small, prod',
      "DATABASE_URL (missing) must be the address of a Postgres database: postgresql://user:password@host:port/database, with %25 for a % in the password, and %23 %2F %3A %3F %40 for # / : ? @",
      'AWS_ENDPOINT_URL "localhost" must be an http or https URL, for example http://127.0.0.1:4566',
      'BELFRY_PASS_MS "soon" must be a number of milliseconds from 0 to 840000',
      'BELFRY_POOL_SIZE "0" must be a whole number from 1 to 100',
    ]);
  });

  it("never shows a password", () => {
    const [found] = problemsOf({ ...local, DATABASE_URL: "mysql://me:secret@host/db" });
    expect(found).toContain('"mysql://me:***@host/db"');
  });

  it.each([
    ["a region where no endpoints are given", { DATABASE_URL: local.DATABASE_URL }, "AWS_REGION (missing)"],
    [
      "no crash points in prod",
      { ...local, BELFRY_STAGE: "prod", BELFRY_CRASH_POINT: "claimed" },
      "BELFRY_CRASH_POINT",
    ],
    [
      "real time where the services are real",
      { DATABASE_URL: local.DATABASE_URL, AWS_REGION: "eu-west-1", BELFRY_TIME_SCALE: "60" },
      "BELFRY_TIME_SCALE 60",
    ],
  ])("asks for %s", (_, environment, expected) => {
    expect(problemsOf(environment)).toEqual([expect.stringContaining(expected)]);
  });

  it("refuses a dispatch window that a wake would outlast where wakes are real: jobs between two of them would be late", () => {
    const deployed = { DATABASE_URL: local.DATABASE_URL, AWS_REGION: "eu-west-1" };
    expect(problemsOf({ ...deployed, BELFRY_DISPATCH_WINDOW_MS: "59999" })).toEqual([
      "BELFRY_DISPATCH_WINDOW_MS 59999 must be at least 60000, the time between two wakes: what is due between them would be late",
    ]);
    expect(readConfig({ ...deployed, BELFRY_DISPATCH_WINDOW_MS: "60000" }, project).dispatchWindowMs).toBe(60_000);
    expect(readConfig({ ...local, BELFRY_DISPATCH_WINDOW_MS: "1000" }, project).dispatchWindowMs).toBe(1_000);
  });

  it("reads queue URLs by lane, and refuses what is not JSON", () => {
    const text = '{"mail":"https://sqs.eu-west-1.amazonaws.com/1/mail"}';
    expect(readConfig({ ...local, BELFRY_QUEUE_URLS: text }, project).queueUrls).toEqual(JSON.parse(text));
    expect(problemsOf({ ...local, BELFRY_QUEUE_URLS: "{mail" })).toEqual([
      expect.stringContaining("must be JSON with a URL for each lane"),
    ]);
  });

  it("refuses a token for a server that it would not verify, and two ways to prove itself at once", () => {
    expect(problemsOf({ ...local, BELFRY_DATABASE_AUTH: "iam" })).toEqual([
      "BELFRY_DATABASE_CA (missing) is needed with iam: a token must not go to an unverified server",
    ]);
    const secret = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:belfry-AbCdEf";
    const both = { BELFRY_DATABASE_AUTH: "iam", BELFRY_DATABASE_CA: "/ca.pem", BELFRY_DATABASE_SECRET: secret };
    expect(problemsOf({ ...local, ...both })).toEqual([
      `BELFRY_DATABASE_SECRET ${secret} goes with password, not with iam`,
    ]);
    expect(readConfig({ ...local, BELFRY_DATABASE_SECRET: secret }, project).databaseAuth).toEqual({
      kind: "secret",
      arn: secret,
    });
  });

  it("publishes events to a bus or to a webhook that can tell them from forged ones", () => {
    const hook = { BELFRY_EVENT_WEBHOOK: "https://example.org/hook", BELFRY_EVENT_WEBHOOK_SECRET: "0123456789abcdef" };
    expect(readConfig(local, project).eventSink).toBeNull();
    expect(readConfig({ ...local, BELFRY_EVENT_BUS: "ours" }, project).eventSink).toEqual({ kind: "bus", bus: "ours" });
    expect(readConfig({ ...local, ...hook }, project).eventSink).toMatchObject({
      kind: "webhook",
      url: hook.BELFRY_EVENT_WEBHOOK,
    });
    expect(problemsOf({ ...local, ...hook, BELFRY_EVENT_BUS: "ours" })).toEqual([
      expect.stringContaining("events go to one place"),
    ]);
    for (const plain of ["http://example.org/hook", "http://127.example.org/", "ftp://example.org/", "hook"]) {
      expect(problemsOf({ ...local, ...hook, BELFRY_EVENT_WEBHOOK: plain })).toEqual([
        expect.stringContaining(`BELFRY_EVENT_WEBHOOK "${plain}" must be an https URL`),
      ]);
    }
    const own = { ...local, ...hook, BELFRY_EVENT_WEBHOOK: "http://127.0.0.1:9/hook" };
    expect(readConfig(own, project).eventSink).toMatchObject({ url: "http://127.0.0.1:9/hook" });
    expect(problemsOf({ ...local, ...hook, BELFRY_EVENT_WEBHOOK_SECRET: "0123456789abcdef,short" })).toEqual([
      expect.stringContaining("two such secrets"),
    ]);
    expect(problemsOf({ ...local, BELFRY_EVENT_WEBHOOK: hook.BELFRY_EVENT_WEBHOOK })).toEqual([
      expect.stringContaining("BELFRY_EVENT_WEBHOOK_SECRET (missing)"),
    ]);
  });
});
