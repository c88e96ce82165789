/**
 * `npm run image`: builds the image of the Dockerfile and runs it as Fargate would. The base is made of this machine's
 * own files, because a registry may not be reached; what is built on it, and how it runs, is what the Dockerfile says.
 */
import { rejects } from "node:assert/strict";
import { execFile } from "node:child_process";
import { hash } from "node:crypto";
import { existsSync, mkdirSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { promisify } from "node:util";
import { fileURLToPath } from "node:url";
import { imageAuthorities } from "../../infra/constructs/arm-task.ts";
import { listenOnLoopback } from "../../src/local/services/server.ts";
import { startDynamodb } from "../../src/local/services/dynamodb.ts";
import { startPostgres } from "../../src/local/services/postgres.ts";
import { onConnection } from "../../src/postgres/access.ts";
import { startSqs } from "../../src/local/services/sqs.ts";
import { stages } from "../support/own-project.ts";
import { topology } from "../../src/stage/topology.ts";
import { elapsedMs, until } from "../proof/until.ts";
import { passOrFail, step } from "../support/steps.ts";
import { type Builder, builderIn, layOutBase, missing } from "./builder.ts";
import { type Container, type ContainerOptions, startContainer } from "./container.ts";

const project = fileURLToPath(new URL("../../", import.meta.url));
const folder = join(project, ".belfry", "image");
const image = "localhost/belfry-image-check";
const stopMsMax = topology([], stages.emulator).schedulerTask.stopTimeoutSeconds * 1_000;
const passMs = 5_000;
const longPassMs = 55_000;
const startMsMax = 120_000;

/** What an intruder in the container would try. */
const intruder = `
  import { writeFileSync } from "node:fs";
  for (const folder of ["/app", "/tmp", "/"]) try { writeFileSync(folder + "/x", ""); console.log("wrote"); } catch ({ code }) { console.log(code); }
  console.log(process.pid, process.getuid());
`;

process.exitCode = await main();

async function main(): Promise<number> {
  const reason = missing();
  if (reason !== null) {
    console.log(`image was skipped: ${reason}`);
    return 0;
  }
  rmSync(folder, { recursive: true, force: true });
  const builder = builderIn(folder);
  const world = await startWorld();
  try {
    return await passOrFail(async () => {
      await step("the Dockerfile builds, on a base of this machine", () => build(builder));
      await exercise(builder, world);
    });
  } finally {
    await world.stop();
    await builder.remove();
  }
}

interface World {
  readonly environment: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** The database, the queues and the lock table that the task of the stage `emulator` finds, as a deployment leaves them. */
async function startWorld(): Promise<World> {
  const postgres = await startPostgres({ folder: join(folder, "postgres"), port: 0 });
  const [sqs, dynamodb] = await Promise.all([startSqs(), startDynamodb({ folder: null })]);
  const environment = {
    DATABASE_URL: postgres.url,
    AWS_ENDPOINT_URL_SQS: sqs.url,
    AWS_ENDPOINT_URL_DYNAMODB: dynamodb.url,
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "test",
    AWS_SECRET_ACCESS_KEY: "test",
    BELFRY_STAGE: stages.emulator.name,
  };
  return {
    environment,
    async stop() {
      await Promise.all([sqs.stop(), dynamodb.stop()]);
      await postgres.stop("immediate");
    },
  };
}

async function build(builder: Builder): Promise<string> {
  const base = join(folder, "base");
  mkdirSync(base, { recursive: true });
  await layOutBase(base);
  const stand = `${image}-base`;
  await builder.build({ context: base, image: stand });
  const [pem = ""] = rootCertificates;
  const authority = createServer((_request, response) => response.end(pem));
  const port = await listenOnLoopback(authority, 0, "the authorities of RDS");
  try {
    const url = `http://127.0.0.1:${port}/authorities.pem`;
    const given = { NODE_IMAGE: stand, RDS_AUTHORITIES: url };
    const changed = builder.build({ context: project, image, arguments: given });
    await rejects(changed, /RUN test|exit status 1/, "authorities with another sum than the pinned one were built in");
    const sum = hash("sha256", pem);
    await builder.build({ context: project, image, arguments: { ...given, RDS_AUTHORITIES_SHA256: sum } });
  } finally {
    authority.closeAllConnections();
    authority.close();
  }
  return `Node ${process.version} ${process.arch}`;
}

async function exercise(builder: Builder, world: World): Promise<void> {
  const config = await builder.inspect(image);
  const root = await builder.mount(image);
  const start = (over: Partial<ContainerOptions> = {}): Container =>
    startContainer({ folder, root, config, environment: {}, ...over });
  await step("it holds the bundle and the authorities, and no packages", async () => {
    const modes = ["/app/main.mjs", imageAuthorities].map((file) => statSync(join(root, file)).mode & 0o777);
    expectEqual(
      "files of /app that everybody may read",
      modes.map((mode) => (mode & 0o444) === 0o444).join(),
      "true,true",
    );
    expectEqual("packages", existsSync(join(root, "app/node_modules")), false);
  });
  await step("it runs as a user without rights and can write nothing", () => readOnly(start));
  await step("without settings it says which are missing and ends with code 1", async () => {
    const { code, said } = await start().ended;
    expectEqual("exit code", code, 1);
    if (!said.includes("DATABASE_URL")) throw new Error(`it said:\n${said}`);
  });
  await step("without its tables it says so and ends with code 1", async () => {
    const { code, said } = await start({ environment: world.environment }).ended;
    expectEqual("exit code", code, 1);
    if (!/migrat/.test(said) || said.length > 2_000) throw new Error(`it said:\n${said}`);
  });
  await step("a pass does its work", () => pass(start, world));
  await step("SIGTERM ends a pass in time, and its lock is free at once", () => terminate(start, world));
}

type Start = (over: Partial<ContainerOptions>) => Container;

async function readOnly(start: Start): Promise<string> {
  const { said } = await start({ entrypoint: ["node"], command: ["--input-type=module", "--eval", intruder] }).ended;
  expectEqual("writing, process and user", said.trim().replaceAll("\n", " "), "EROFS EROFS EROFS 1 1000");
  return "process 1, user 1000";
}

async function pass(start: Start, { environment }: World): Promise<string> {
  await promisify(execFile)(process.execPath, [join(project, "src/local/setup/setup.ts")], {
    env: { PATH: process.env["PATH"] ?? "", ...environment },
  });
  const { code, said } = await start({ environment: { ...environment, BELFRY_PASS_MS: String(passMs) } }).ended;
  if (code !== 0 || !said.includes('"outcome":"done"')) throw new Error(`it ended with ${code} and said:\n${said}`);
  const planned = await numberOf(environment, "select count(*)::int as n from belfry.occurrence");
  if (planned === 0) throw new Error(`the pass planned no occurrence of hello-every-minute:\n${said}`);
  return `${planned} occurrences planned`;
}

async function terminate(start: Start, { environment }: World): Promise<string> {
  const long = { environment: { ...environment, BELFRY_PASS_MS: String(longPassMs) } };
  const token = () => numberOf(environment, "select max(token)::int as n from belfry.lock_fence");
  const before = await token();
  const first = start(long);
  await until("the pass to install its fence", startMsMax, async () => (await token()) > before);
  const startedMs = elapsedMs();
  first.terminate();
  const { code, said } = await first.ended;
  const tookMs = elapsedMs() - startedMs;
  if (code !== 0 || tookMs > stopMsMax) throw new Error(`it ended with ${code} after ${tookMs} ms and said:\n${said}`);
  const next = await start({ environment: { ...environment, BELFRY_PASS_MS: String(passMs) } }).ended;
  if (next.said.includes("held by")) throw new Error(`the lock was not released:\n${said}\n${next.said}`);
  return `${Math.round(tookMs)} ms`;
}

const numberOf = (environment: World["environment"], sql: string): Promise<number> =>
  onConnection(
    { url: environment["DATABASE_URL"] ?? "" },
    async (client) => (await client.query<{ n: number }>(sql)).rows[0]?.n ?? 0,
  );

function expectEqual(what: string, found: unknown, wanted: unknown): void {
  if (found !== wanted) throw new Error(`${what}: wanted ${String(wanted)}, found ${String(found)}`);
}
