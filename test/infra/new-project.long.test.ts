/** What a user deploys who made a project and changed nothing: its own CDK app, with the package under its name. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { scaffold } from "../../src/scaffold/scaffold.ts";
import { account, type Answers, zonesOffering } from "../cli/account.ts";
import { belfry, signIn } from "../cli/harness.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const texts = scaffold({ name: "my-jobs", version: "0.0.0", localVersion: null, bringsNode: false });
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "belfry-new-"));
  for (const [file, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  mkdirSync(join(folder, "node_modules"));
  const packages = join(root, "node_modules");
  for (const name of readdirSync(packages)) symlinkSync(join(packages, name), join(folder, "node_modules", name));
  symlinkSync(root, join(folder, "node_modules", "belfry"));
  synthesize();
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function synthesize(): void {
  const env = { ...process.env, CDK_OUTDIR: join(folder, "cdk.out") };
  execFileSync(process.execPath, ["infra/app.ts"], { cwd: folder, env, stdio: ["ignore", "ignore", "pipe"] });
}

interface Assembly {
  readonly artifacts: Readonly<Record<string, { readonly properties?: { readonly terminationProtection?: boolean } }>>;
}
interface Template {
  readonly Resources: Readonly<Record<string, { readonly Type: string; readonly Properties: Record<string, unknown> }>>;
}
const written = (file: string): unknown => JSON.parse(readFileSync(join(folder, "cdk.out", file), "utf8"));
const protections = () => ({
  stack: (written("manifest.json") as Assembly).artifacts["my-jobs-prod"]?.properties?.terminationProtection ?? false,
  database: Object.values((written("my-jobs-prod.template.json") as Template).Resources)
    .filter(({ Type }) => Type === "AWS::RDS::DBInstance")
    .map(({ Properties }) => Properties["DeletionProtection"]),
});

const findings = async (over: Partial<Answers>) => {
  signIn();
  const env = { AWS_REGION: "eu-west-1", AWS_ENDPOINT_URL: await account(over) };
  const { json } = await belfry(["doctor", "--stage", "prod", "--json"], {
    env: { ...env, BELFRY_PROJECT: join(folder, "belfry.config.ts") },
  });
  return json.findings;
};
const look = async (over: Partial<Answers>) => (await findings(over)).filter(({ name }) => name !== "image");

test("the first template of a new project has no protection, which would keep a failed deployment", () => {
  expect(protections()).toEqual({ stack: false, database: [false] });
});

test("what a new project has to do first goes on after a failure, and the tutorial shows the same app", () => {
  const tutorial = readFileSync(join(root, "docs/tutorial.md"), "utf8");
  for (const text of [texts["README.md"], tutorial]) expect(text).toContain("npx cdk deploy --no-rollback");
  expect(/```ts\n\/\/ infra\/app\.ts\n(.*?)```/s.exec(tutorial)?.[1]).toBe(texts["infra/app.ts"]);
});

test("doctor finds before the first deployment what would break it, in a project of one's own too", async () => {
  const wrong = async (over: Partial<Answers>) =>
    (await look(over)).filter(({ ok }) => !ok).map(({ name, detail }) => `${name}: ${detail}`);
  expect(await wrong({})).toEqual([]);
  const over = {
    DescribeVpcs: "vpc-1 vpc-2 vpc-3 vpc-4 vpc-5",
    DescribeOrderableDBInstanceOptions: zonesOffering("eu-west-1b"),
    DescribeVpcBlockPublicAccessOptions: "<internetGatewayBlockMode>block-ingress</internetGatewayBlockMode>",
  };
  expect(await wrong(over)).toEqual([
    expect.stringMatching(/^VPCs: 5 are there/),
    expect.stringMatching(/^zones: eu-west-1a of eu-west-1a, eu-west-1b do not offer db.t4g.small/),
    expect.stringMatching(/^VPC Block Public Access: is block-ingress/),
  ]);
  expect(await wrong({ DescribeDBEngineVersions: "<EngineVersion>16.3</EngineVersion>" })).toContain(
    "Postgres: postgres 17 is not offered",
  );
  expect(await wrong({ DescribeStacks: "<StackStatus>ROLLBACK_FAILED</StackStatus>" })).toEqual([
    "stack: my-jobs-prod is ROLLBACK_FAILED",
  ]);
});

test("one switch protects the stack and its database, and asks whom its alarms reach; doctor looks for no builder of a named image", async () => {
  const isLookedFor = async () => (await findings({})).some(({ name }) => name === "image");
  expect(await isLookedFor()).toBe(true);
  const file = join(folder, "infra/app.ts");
  const first = readFileSync(file, "utf8");
  const switched = first.replace("terminationProtection: false", "terminationProtection: true");
  writeFileSync(file, switched);
  expect(synthesize).toThrow(/stage "prod" has termination protection and its alarms reach no one/);
  const props = '{ stage: "prod", subscribers: ["ops@example.com"], image: ContainerImage.fromRegistry("ours") }';
  const heard = switched.replace('{ stage: "prod" }', props);
  writeFileSync(file, `import { ContainerImage } from "aws-cdk-lib/aws-ecs";\n${heard}`);
  synthesize();
  expect(protections()).toEqual({ stack: true, database: [true] });
  expect(await isLookedFor()).toBe(false);
});
