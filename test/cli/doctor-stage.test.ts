import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { account, type Answers, recorders, settings, zonesOffering } from "./account.ts";
import { belfry, signIn } from "./harness.ts";
import { emptyFolder } from "../support/empty-folder.ts";

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
  const details = Object.fromEntries(findings.map(({ name, detail }) => [name, detail]));
  expect(details).toMatchObject({
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
  [
    "small",
    { DescribeOrderableDBInstanceOptions: zonesOffering("eu-west-1a", "eu-west-1c") },
    "zones",
    /^eu-west-1b of eu-west-1a, eu-west-1b do not offer db.t4g.small, eu-west-1a, eu-west-1c do$/,
  ],
  [
    "small",
    { DescribeVpcBlockPublicAccessOptions: "<internetGatewayBlockMode>block-ingress</internetGatewayBlockMode>" },
    "VPC Block Public Access",
    /is block-ingress: tasks with public addresses do not reach AWS's services/,
  ],
  [
    "prod",
    { DescribeVpcBlockPublicAccessOptions: "<internetGatewayBlockMode>block-bidirectional</internetGatewayBlockMode>" },
    "VPC Block Public Access",
    /is block-bidirectional: nothing reaches/,
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

test("a secret that a lane names and that was never written is found before its worker fails to start", async () => {
  const folder = emptyFolder();
  const own = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href);
  writeFileSync(
    join(folder, "jobs.mjs"),
    `import { defineApp } from ${own("../../src/define/define-app.ts")};
     import { defineJob } from ${own("../../src/define/define-job.ts")};
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

test("AWS Config that records each network interface is a warning with its sum, and fails nothing", async () => {
  const all = { recordingGroup: { allSupported: true } };
  const interfaces = ["AWS::EC2::NetworkInterface"];
  const without = { allSupported: false, recordingStrategy: { useOnly: "EXCLUSION_BY_RESOURCE_TYPES" } };
  const seen = async (recorder: object, over: Partial<Answers> = {}, stage = "dev") => {
    const { findings } = await look(stage, { DescribeConfigurationRecorders: recorders(recorder), ...over });
    expect(findings.filter(({ ok }) => !ok)).toEqual([]);
    const found = findings.find(({ name }) => name === "AWS Config");
    return found?.fix === undefined ? "" : found.detail;
  };
  const sum = "records each network interface: 52560 scheduler tasks add at least 315 USD a month";
  expect(await seen(all)).toBe(sum);
  expect(await seen({ recordingGroup: { ...without, exclusionByResourceTypes: { resourceTypes: [] } } })).toBe(sum);
  expect(await seen(all, {}, "small")).toContain("4380 scheduler tasks add at least 26 USD");
  expect(await seen(all, {}, "prod")).toBe("");
  const daily = { recordingModeOverrides: [{ resourceTypes: interfaces, recordingFrequency: "DAILY" }] };
  const silent: readonly (readonly [object, Partial<Answers>])[] = [
    [{ ...all, recordingMode: { recordingFrequency: "DAILY" } }, {}],
    [{ ...all, recordingMode: { recordingFrequency: "CONTINUOUS", ...daily } }, {}],
    [{ recordingGroup: { ...without, exclusionByResourceTypes: { resourceTypes: interfaces } } }, {}],
    [{ recordingGroup: { resourceTypes: ["AWS::S3::Bucket"] } }, {}],
    [all, { DescribeConfigurationRecorderStatus: "{}" }],
  ];
  for (const [recorder, over] of silent) expect(await seen(recorder, over)).toBe("");
});

test("a stage that runs and must last is reported as unprotected, one that may go is not", async () => {
  const stack = async (stage: string, more = "") => {
    const there = { DescribeStacks: `<StackStatus>UPDATE_COMPLETE</StackStatus>${more}` };
    return (await look(stage, there)).findings.find(({ name }) => name === "stack")?.detail;
  };
  expect(await stack("prod")).toMatch(/UPDATE_COMPLETE; not protected yet: set terminationProtection/);
  const done = "<EnableTerminationProtection>true</EnableTerminationProtection>";
  expect(await stack("prod", done)).toBe("belfry-prod is UPDATE_COMPLETE");
  expect(await stack("dev")).toBe("belfry-dev is UPDATE_COMPLETE");
});

test("credentials that no account answers to are the only finding; no region and two systems are refused", async () => {
  const { findings } = await look("small", { GetCallerIdentity: null as unknown as string });
  expect(findings.map(({ name, ok }) => [name, ok])).toEqual([["account", false]]);
  expect(await belfry(["doctor", "--stage", "small"])).toMatchObject({
    code: 2,
    err: expect.stringMatching(/AWS_REGION/) as unknown,
  });
  expect(await belfry(["doctor", "--local", "--stage", "small"])).toMatchObject({
    code: 2,
    err: expect.stringMatching(/--local, or --stage NAME/) as unknown,
  });
  expect(await belfry(["doctor", "--stage", "nowhere"])).toMatchObject({ code: 2 });
});
