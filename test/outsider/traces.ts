import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../../src/local/process/free-port.ts";
import { until } from "../proof/until.ts";
import { localStart } from "../support/local-start.ts";
import type { Check } from "./check.ts";
import { cache, npmTools, run as runProgram } from "./tools.ts";
import type { Target } from "./world.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const artifact = "io.zipkin:zipkin-server:3.5.1:jar:exec";
const jar = join(cache, "bin/zipkin-server-3.5.1-exec.jar");
const waitMsMax = 120_000;

/** Each span with its parent: one tree from the caller over the queue to what the worker wrote. */
const tree = [
  "ctx.tx < process charge",
  "dispatch default < ctx.tx",
  "dispatch default < send charge",
  "post /orders < nothing",
  "post < process charge",
  "process charge < send charge",
  "process receipt < process charge",
  "send charge < post /orders",
  "settle < process receipt",
];

interface Span {
  readonly id: string;
  readonly parentId?: string;
  readonly name: string;
}

/** The guide's files, and the config that names its app. */
async function layProject(folder: string, isSilent: boolean): Promise<void> {
  const guide = readFileSync(join(root, "docs/guides/tracing.md"), "utf8");
  for (const [, name = "", code = ""] of guide.matchAll(/```typescript\n\/\/ (\S+)\n([\s\S]*?)```/g)) {
    const isLeftOut = isSilent && name === "tracing.ts";
    writeFileSync(join(folder, name), isLeftOut ? "" : code);
  }
  const stages = '{ dev: { operators: ["*"], apps: ["shop"] } }';
  writeFileSync(
    join(folder, "belfry.config.ts"),
    `export default { apps: { shop: "./shop.ts" }, stages: ${stages} };\n`,
  );
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules/belfry"));
  symlinkSync(join(await npmTools(), "node_modules/@opentelemetry"), join(folder, "node_modules/@opentelemetry"));
}

async function spansAt(zipkin: string): Promise<readonly string[]> {
  const [spans = []] = (await (
    await fetch(`${zipkin}/api/v2/traces?limit=1&spanName=post%20/orders`)
  ).json()) as Span[][];
  const names = new Map(spans.map(({ id, name }) => [id, name]));
  return spans.map(({ name, parentId = "" }) => `${name} < ${names.get(parentId) ?? "nothing"}`).toSorted();
}

async function run(target: Target): Promise<readonly string[]> {
  await using ends = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "belfry-traces-"));
  ends.defer(() => rmSync(folder, { recursive: true, force: true }));
  await layProject(folder, silent.has(target));
  const port = await freePort();
  const zipkin = `http://127.0.0.1:${port}`;
  const server = spawn("java", ["-Xmx256m", "-jar", jar], {
    env: { ...process.env, QUERY_PORT: `${port}` },
    stdio: "ignore",
  });
  ends.defer(() => void server.kill());
  await until("Zipkin", waitMsMax, async () => (await fetch(`${zipkin}/health`).catch(() => null))?.ok === true);
  const bank = createServer((_, response) => response.end()).listen(0, "127.0.0.1");
  ends.defer(() => void bank.close());
  await once(bank, "listening");
  const { port: bankPort } = bank.address() as { port: number };
  const { DATABASE_URL: _, ...inherited } = process.env;
  const tracing = { OTEL_EXPORTER_ZIPKIN_ENDPOINT: `${zipkin}/api/v2/spans`, BANK_URL: `http://127.0.0.1:${bankPort}` };
  const env = { ...inherited, ...tracing, BELFRY_HOME: join(folder, "home") };
  const dev = [join(root, "bin/belfry.mjs"), "dev", "--json", "--port", String(await freePort())];
  const system = localStart(process.execPath, dev, { cwd: folder, env });
  ends.defer(async () => void (await system.stop("SIGTERM")));
  await system.urls(waitMsMax);
  const record = JSON.parse(readFileSync(join(env.BELFRY_HOME, "system.json"), "utf8")) as { env: NodeJS.ProcessEnv };
  const order = await runProgram(process.execPath, ["order.ts"], { cwd: folder, env: { ...env, ...record.env } });
  if (order.code !== 0) return [`the guide's program ended with ${order.code}: ${order.output.slice(0, 300)}`];
  const isWhole = async (): Promise<boolean> => (await spansAt(zipkin)).join() === tree.join();
  const whole = await until("the trace", waitMsMax / 4, isWhole).catch(() => false);
  return whole ? [] : [`Zipkin shows ${(await spansAt(zipkin)).join(", ")}; wanted ${tree.join(", ")}`];
}

/** Targets whose project registers no spans. */
const silent = new WeakSet<Target>();

/** What `docs/guides/tracing.md` shows, in a collector that is not of this project. */
export const tracesCheck: Check = {
  name: "a trace in Zipkin, by the program of the guide",
  async missing() {
    if ((await runProgram("java", ["-version"])).code !== 0) return "java is not there";
    if (existsSync(jar)) return null;
    const got = `-DoutputDirectory=${join(cache, "bin")}`;
    const { code, output } = await runProgram("mvn", ["-q", "-B", "dependency:copy", `-Dartifact=${artifact}`, got]);
    return code === 0 ? null : `Zipkin could not be brought: ${output.slice(0, 200)}`;
  },
  run,
  faults: {
    "a project that registers no spans": (target) => {
      const planted = { ...target };
      silent.add(planted);
      return { target: planted };
    },
  },
};
