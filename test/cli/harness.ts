import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { serve } from "@hono/node-server";
import type { AddressInfo } from "node:net";
import { onTestFinished, vi } from "vitest";
import { exits } from "../../src/cli/exit.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import { openApi } from "../api/harness.ts";

/** The members that tests read of what a command wrote; what is not there is undefined all the same. */
interface Written {
  readonly id: string;
  readonly ok: boolean;
  readonly jobs: readonly unknown[];
  readonly schedules: readonly unknown[];
  readonly nextCursor: string;
  readonly environment: readonly { readonly field: string; readonly message: string }[];
  readonly findings: readonly {
    readonly name: string;
    readonly ok: boolean;
    readonly detail: string;
    readonly fix?: string;
  }[];
  readonly stages: readonly { readonly stage: string; readonly problems: readonly unknown[] }[];
}

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** With `--json`: what stands on stdout's first line. */
  readonly json: Written;
}

interface Settings {
  readonly isTerminal?: boolean;
  readonly env?: NodeJS.ProcessEnv;
  readonly folder?: string;
  readonly interrupted?: AbortSignal;
  /** Called with what was written to stdout so far. */
  readonly onOut?: (out: string) => void;
}

/** Runs one command line in this process, and holds its exit code to the table. */
export async function belfry(
  args: readonly string[],
  { isTerminal = false, env = {}, folder = "/", interrupted, onOut = () => {} }: Settings = {},
): Promise<Ran> {
  let out = "";
  let err = "";
  const streams = { out: (text: string) => onOut((out += text)), err: (text: string) => (err += text), isTerminal };
  const project = fileURLToPath(new URL("../../belfry.config.ts", import.meta.url));
  const code = await runCommandLine(args, {
    streams,
    env: { BELFRY_PROJECT: project, ...env },
    folder,
    ...(interrupted === undefined ? {} : { interrupted }),
  });
  const leaf = leafOf(args);
  if (leaf !== undefined && exits[leaf]?.includes(code) !== true) throw new Error(`${leaf} ended with ${code}: ${err}`);
  return { code, out, err, json: (args.includes("--json") ? firstOf(out) : {}) as Written };
}

/** `logs` writes an object on each line, or nothing. */
const firstOf = (out: string): unknown => JSON.parse(out.split("\n")[0] || "{}");

/** The command that a line names; `explain` is also a part of others. */
function leafOf(args: readonly string[]): string | undefined {
  const line = ` ${args.join(" ")} `;
  const named = Object.keys(exits).filter((leaf) => line.includes(` ${leaf} `));
  return named.toSorted((a, b) => b.length - a.length)[0];
}

/** The API on the reference store behind a real port; stopped when the test ends. */
export async function serveApi(options: Parameters<typeof openApi>[1] = {}, apps?: Parameters<typeof openApi>[0]) {
  const opened = await openApi(apps, options);
  const server = serve({ fetch: opened.api.fetch, hostname: "127.0.0.1", port: 0 });
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { ...opened, url, belfry: (...args: string[]) => belfry(args, { env: { BELFRY_URL: url } }) };
}

export function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "belfry-cli-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The names and kinds of all members: what a script may rely on. */
export function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])];
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shapeOf(each)]));
}

/** Credentials that sign; no server checks them. */
export function signIn(): void {
  vi.stubEnv("AWS_PROFILE", undefined);
  for (const [name, value] of Object.entries({ AWS_ACCESS_KEY_ID: "AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY: "secret" })) {
    vi.stubEnv(name, value);
  }
  onTestFinished(() => void vi.unstubAllEnvs());
}
