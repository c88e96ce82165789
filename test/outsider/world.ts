import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { OpenApiDocument } from "../api/documented.ts";

/** What a check looks at. A planted fault is a target with one thing that is wrong. */
export interface Target {
  readonly url: string;
  readonly document: OpenApiDocument;
  /** The folder with the system's logs and mails. */
  readonly home: string;
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
  const child = spawn(process.execPath, [bin, "dev", "--json", "--port", String(await freePort())], {
    cwd: fileURLToPath(new URL("project", import.meta.url)),
    env: { ...env, BELFRY_HOME: home },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGTERM");
      await once(child, "exit");
    }
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const { api: url, ...fakes } = await started(child);
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApiDocument;
    return { url, document, home, fakes, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Urls = Target["fakes"] & { readonly api: string };

async function started(child: ChildProcess): Promise<Urls> {
  if (child.stdout === null) throw new Error("the system has no output");
  const lines = createInterface({ input: child.stdout });
  const found = Promise.withResolvers<Urls>();
  lines.on("line", (line) => {
    if (!line.startsWith("{")) return;
    const said = JSON.parse(line) as { readonly is: string; readonly urls?: Urls };
    if (said.is === "started" && said.urls !== undefined) found.resolve(said.urls);
  });
  child.once("exit", (code) => found.reject(new Error(`npm start ended with code ${code}`)));
  const late = setTimeout(() => found.reject(new Error(`npm start took over ${startMsMax} ms`)), startMsMax);
  return await found.promise.finally(() => clearTimeout(late));
}

async function freePort(): Promise<number> {
  const { freePort: find } = await import("../../src/local/process/free-port.ts");
  return find();
}
