import { existsSync } from "node:fs";
import { handle } from "hono/aws-lambda";
import { schemaVersion } from "../src/postgres/schema-version.ts";
import { createApi } from "../src/api/api.ts";
import { readConsole } from "../src/api/console.ts";
import { type Caller, signedCaller } from "../src/api/caller.ts";
import { readConfig } from "../src/stage/config.ts";
import { ownProject } from "../src/stage/project.ts";
import { openRuntime } from "../src/compose/runtime.ts";
import manifest from "../package.json" with { type: "json" };

const config = readConfig(process.env, await ownProject());
const runtime = await openRuntime(config, { role: "api" });
await runtime.checkDatabase({ patient: true });

process.once("SIGTERM", () => void runtime.close().finally(() => process.exit(0)));

/** The role or user whose signature IAM has checked. */
function signer(_request: Request, env: unknown): Caller | null {
  const { requestContext } = (env ?? {}) as LambdaEvent["env"];
  return signedCaller(requestContext?.authorizer?.iam?.userArn ?? emulated, config.stage);
}

/** An emulator on this machine checks no signature and names no caller. In AWS no service answers on a function's loopback. */
const emulated = /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])[:/]/.test(process.env["AWS_ENDPOINT_URL"] ?? "")
  ? "arn:aws:iam::000000000000:user/emulator"
  : undefined;

interface LambdaEvent {
  readonly env: {
    readonly requestContext?: { readonly authorizer?: { readonly iam?: { readonly userArn?: string } } };
  };
}

/** The deployment puts the page's files beside this code; read once, by the first who asks. */
const page = new URL("./console/", import.meta.url);
let pages: ReturnType<typeof readConsole> | undefined;

const api = createApi({
  ...(existsSync(page) ? { console: () => (pages ??= readConsole(page)) } : {}),
  ports: runtime.ports,
  insight: runtime.insight,
  lanes: runtime.topology.lanes,
  locks: runtime.ports.locks,
  identify: signer,
  registry: runtime.registry,
  client: runtime.client,
  version: manifest.version,
  stage: config.stage.name,
  databaseUsd: config.databaseUsd,
  schemaVersion: () => runtime.ports.store.transaction(schemaVersion),
  access: "signed",
  endsStreams: true,
});

/** The HTTP API behind a function URL: who may call was decided by IAM before this runs. */
export const handler: unknown = handle(api);
