import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { listenOnLoopback } from "../../src/local/services/server.ts";
import { belfry, signIn } from "./harness.ts";

/** What AWS answers, by the action that a call names. A test changes what it is about. */
const ready = {
  GetCallerIdentity: "<Account>123456789012</Account>",
  "AmazonSSM.GetParameter": JSON.stringify({ Parameter: { Value: "30" } }),
  DescribeStacks: null as string | null,
  GetRole: "<Role/>",
  "account-settings": settings(1_000, 900),
  DescribeVpcs: "<vpcId>vpc-1a</vpcId>",
  DescribeAddresses: "",
  GetServiceQuota: null as string | null,
  DescribeSecret: null as string | null,
  DescribeDBEngineVersions: "<EngineVersion>17.10</EngineVersion>",
};
type Answers = typeof ready;

function settings(ConcurrentExecutions: number, UnreservedConcurrentExecutions: number): string {
  return JSON.stringify({ AccountLimit: { ConcurrentExecutions, UnreservedConcurrentExecutions } });
}

async function account(over: Partial<Answers> = {}): Promise<string> {
  const answers: Readonly<Record<string, string | null>> = { ...ready, ...over };
  const server = createServer((request, response) => {
    void request.toArray().then((parts) => {
      const asked = `${request.url} ${String(request.headers["x-amz-target"])} ${Buffer.concat(parts).toString()}`;
      const action = Object.keys(answers).find((name) => new RegExp(`\\b${name}\\b`).test(asked)) ?? "";
      const text = answers[action] ?? "<Message>Stack does not exist</Message>";
      response.writeHead(answers[action] === null || action === "" ? 400 : 200).end(text);
    });
  });
  const port = await listenOnLoopback(server, 0, "an account");
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${port}`;
}

async function look(stage: string, over: Partial<Answers> = {}) {
  signIn();
  const env = { AWS_REGION: "eu-west-1", AWS_ENDPOINT_URL: await account(over) };
  const { code, json } = await belfry(["doctor", "--stage", stage, "--json"], { env });
  // Whether Docker is there is this machine's matter.
  return { code, findings: json.findings.filter(({ name }) => name !== "image") };
}

test("an account that is ready says how the first deployment of a stage is made", async () => {
  const { findings } = await look("small");
  expect(findings.filter(({ ok }) => !ok)).toEqual([]);
  const told = Object.fromEntries(findings.map(({ name, detail }) => [name, detail]));
  expect(told).toMatchObject({
    account: "123456789012, eu-west-1",
    bootstrap: "version 30",
    stack: "belfry-small is not there: npx cdk deploy belfry-small --no-rollback",
    Postgres: "postgres 17.10",
  });
});

const wrong: readonly (readonly [stage: string, over: Partial<Answers>, name: string, says: RegExp])[] = [
  [
    "small",
    { DescribeStacks: "<StackStatus>ROLLBACK_FAILED</StackStatus>" },
    "stack",
    /belfry-small is ROLLBACK_FAILED/,
  ],
  ["prod", { DescribeStacks: "<StackStatus>UPDATE_ROLLBACK_FAILED</StackStatus>" }, "stack", /UPDATE_ROLLBACK_FAILED/],
  [
    "small",
    { "account-settings": settings(10, 9) },
    "Lambda concurrency",
    /9 of 10 at once are free, the stage may use 10/,
  ],
  [
    "small",
    { DescribeVpcs: "vpc-1 vpc-2 vpc-3 vpc-4 vpc-5" },
    "VPCs",
    /5 are there, 1 more are needed, and 5 are allowed/,
  ],
  ["prod", { DescribeAddresses: "eipalloc-1 eipalloc-2 eipalloc-3 eipalloc-4" }, "Elastic IPs", /4 are there, 2 more/],
  [
    "prod",
    { DescribeDBEngineVersions: "<EngineVersion>16.3</EngineVersion>" },
    "Postgres",
    /postgres 17 is not offered/,
  ],
];

test.each(wrong)("what would fail late in %s is found early: %j", async (stage, over, name, says) => {
  const { code, findings } = await look(stage, over);
  const found = findings.filter(({ ok }) => !ok);
  expect(found.map((each) => each.name)).toEqual([name]);
  expect(found[0]?.detail).toMatch(says);
  expect(found[0]?.fix).toBeTruthy();
  expect(code).toBe(1);
});

test("an account that was allowed more has room, and a stack that is there needs none", async () => {
  const vpcs = async (over: Partial<Answers>) => {
    const { findings } = await look("small", { DescribeVpcs: "vpc-1 vpc-2 vpc-3 vpc-4 vpc-5", ...over });
    return findings.filter(({ name }) => name === "VPCs").map(({ ok, detail }) => `${ok} ${detail}`);
  };
  expect(await vpcs({ GetServiceQuota: JSON.stringify({ Quota: { Value: 20 } }) })).toEqual([
    "true 5 of 20 are there, 1 more are needed",
  ]);
  expect(await vpcs({ DescribeStacks: "<StackStatus>UPDATE_COMPLETE</StackStatus>" })).toEqual([]);
});

test("a secret that a lane names and nobody wrote is found before its worker fails to start", async () => {
  const folder = mkdtempSync(join(tmpdir(), "belfry-doctor-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const own = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href);
  writeFileSync(
    join(folder, "jobs.mjs"),
    `import { defineApp } from ${own("../../src/core/define/define-app.ts")};
     import { defineJob } from ${own("../../src/core/define/define-job.ts")};
     export default defineApp({ name: "shop", jobs: [defineJob({ id: "pay", secrets: ["KEY"], run: () => {} })] });`,
  );
  writeFileSync(
    join(folder, "belfry.config.mjs"),
    `export default { apps: { shop: "./jobs.mjs" }, stages: { live: { apps: ["shop"],
       lanes: { default: { secrets: { KEY: "/live/key", OLD: "arn:aws:secretsmanager:eu-west-1:123456789012:secret:old" } } } } } };`,
  );
  const look = async (over: Partial<Answers>) => {
    const env = { AWS_REGION: "eu-west-1", AWS_ENDPOINT_URL: await account(over) };
    const { json } = await belfry(["doctor", "--stage", "live", "--json"], {
      env: { ...env, BELFRY_PROJECT: join(folder, "belfry.config.mjs") },
    });
    return json.findings.filter(({ name }) => name.startsWith("secret ")).map(({ name, ok }) => `${ok} ${name}`);
  };
  signIn();
  const old = "secret arn:aws:secretsmanager:eu-west-1:123456789012:secret:old";
  expect(await look({ DescribeSecret: "{}" })).toEqual(["true secret /live/key", `true ${old}`]);
  expect(await look({})).toEqual(["true secret /live/key", `false ${old}`]);
});

test("a stage that runs and must last is told to be protected, one that may go is not", async () => {
  const there = { DescribeStacks: "<StackStatus>UPDATE_COMPLETE</StackStatus>" };
  const stack = async (stage: string) =>
    (await look(stage, there)).findings.find(({ name }) => name === "stack")?.detail;
  expect(await stack("prod")).toMatch(/UPDATE_COMPLETE; not protected yet: set terminationProtection/);
  expect(await stack("dev")).toBe("belfry-dev is UPDATE_COMPLETE");
});

test("credentials that no account answers to are the only finding; no region and no system are refused", async () => {
  const { findings } = await look("small", { GetCallerIdentity: null as unknown as string });
  expect(findings.map(({ name, ok }) => [name, ok])).toEqual([["account", false]]);
  expect(await belfry(["doctor", "--stage", "small"])).toMatchObject({
    code: 2,
    err: expect.stringMatching(/AWS_REGION/) as unknown,
  });
  expect(await belfry(["doctor"])).toMatchObject({
    code: 2,
    err: expect.stringMatching(/--local, or --stage NAME/) as unknown,
  });
  expect(await belfry(["doctor", "--stage", "nowhere"])).toMatchObject({ code: 2 });
});
