import { streamHandle } from "hono/aws-lambda";
import { schemaVersion } from "../src/adapters/postgres/migrate.ts";
import { createApi } from "../src/api/api.ts";
import { readConfig } from "../src/config.ts";
import { openRuntime } from "../src/runtime.ts";
import manifest from "../package.json" with { type: "json" };

const config = readConfig(process.env);
const runtime = await openRuntime(config, { role: "api" });
await runtime.checkDatabase({ patient: true });

process.once("SIGTERM", () => void runtime.close().finally(() => process.exit(0)));

/** The HTTP API behind a function URL: who may call was decided by IAM before this runs. */
export const handler = streamHandle(
  createApi({
    ports: runtime.ports,
    registry: runtime.registry,
    client: runtime.client,
    version: manifest.version,
    lookAheadMs: config.lookAheadMs,
    stage: config.stage.name,
    schemaVersion: () => runtime.ports.store.transaction(schemaVersion),
    access: "signed",
  }),
);
