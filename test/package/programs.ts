import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What users write beside a project: a web server's part that enqueues, and a CDK app as `cdk init` makes it. */
export function writePrograms(project: string): void {
  writeFileSync(join(project, "server.ts"), server);
  writeFileSync(join(project, "cjs-app.cjs"), commonJsApp);
  writeFileSync(join(project, "program.cts"), commonJsProgram());
}

const server = `import { connect, databasePool } from "belfry/connect";
import { greet } from "./jobs/index.ts";

const [, , databaseUrl = "", sqs = ""] = process.argv;
const environment = { DATABASE_URL: databaseUrl, AWS_ENDPOINT_URL: sqs, AWS_REGION: "us-east-1", AWS_ACCESS_KEY_ID: "x", AWS_SECRET_ACCESS_KEY: "x" };
Object.assign(process.env, environment);
async function main(): Promise<void> {
  const belfry = await connect({ stage: "dev" });
  const pool = databasePool({ poolSize: 1 })();
  const client = await pool.connect();
  await client.query("create table if not exists account (name text)");
  await client.query("begin");
  await client.query("insert into account values ('Grace')");
  const { id, afterCommit } = await greet.enqueue({ name: "Grace" }, { tx: client });
  await client.query("commit");
  await afterCommit?.();
  for (let look = 0; look < 200; look += 1) {
    const { rows } = await client.query("select state from belfry.job where id = $1", [id]);
    if (rows[0]?.state === "SUCCESS") break;
    if (look === 199) throw new Error("the job did not end: " + rows[0]?.state);
    await client.query("select pg_sleep(0.1)");
  }
  console.log(process.version, "job", id, "SUCCESS");
  client.release();
  await pool.end();
  await belfry.close();
}
void main();
`;

/** As TypeScript writes CommonJS; compilers before 5.8 refuse to require an ES module. */
function commonJsProgram(): string {
  const guide = readFileSync(new URL("../../docs/guides/web-servers.md", import.meta.url), "utf8");
  const [, program] = /^```cts\n(.*?)^```/ms.exec(guide) ?? [];
  if (program === undefined) throw new Error("docs/guides/web-servers.md has no CommonJS program");
  return program;
}

const commonJsApp = `const { App, Stack } = require("aws-cdk-lib");
const { Belfry } = require("belfry/cdk");
const app = new App();
const stack = new Stack(app, "commonjs");
const belfry = new Belfry(stack, "Belfry", { stage: "prod" });
belfry.lane("default").addEnvironment("BUCKET", "reports");
app.synth();
`;
