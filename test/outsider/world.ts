import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../../src/local/process/free-port.ts";
import { localStart, withPassword } from "../support/local-start.ts";
import type { OpenApiDocument } from "../api/documented.ts";

/** What a check looks at. A planted fault is a target with one thing that is wrong. */
export interface Target {
  readonly url: string;
  readonly document: OpenApiDocument;
  /** The folder with the system's logs and mails. */
  readonly home: string;
  /** The address of Postgres, with its password. */
  readonly database: string;
  /** Addresses of the fakes of AWS and of the mail sink. */
  readonly fakes: Readonly<Record<"sqs" | "dynamodb" | "mail", string>>;
}

export interface World extends Target {
  stop(): Promise<void>;
}

const startMsMax = 180_000;

/** `npm start` of a small project in a home of its own, as its users start it. */
export async function startWorld(): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), "belfry-outsider-"));
  // Everybody may enter it, so that the home has to keep others out by itself.
  chmodSync(folder, 0o755);
  const home = join(folder, "home");
  const bin = fileURLToPath(new URL("../../bin/belfry.mjs", import.meta.url));
  const { DATABASE_URL: _, ...env } = process.env;
  const system = localStart(process.execPath, [bin, "dev", "--json", "--port", String(await freePort())], {
    cwd: fileURLToPath(new URL("project", import.meta.url)),
    env: { ...env, BELFRY_HOME: home },
  });
  const stop = async (): Promise<void> => {
    await system.stop("SIGTERM");
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const { api: url, database: hidden, ...fakes } = await system.urls(startMsMax);
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApiDocument;
    return { url, document, home, database: withPassword(hidden, home), fakes, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
