import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve } from "@hono/node-server";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { run } from "../../src/cli/run.ts";
import { openApi } from "../api/harness.ts";

/** The members that tests read of what a command wrote; what is not there is undefined all the same. */
interface Written {
  readonly id: string;
  readonly ok: boolean;
  readonly jobs: readonly unknown[];
  readonly schedules: readonly unknown[];
  readonly nextCursor: string;
  readonly environment: readonly { readonly field: string; readonly message: string }[];
  readonly findings: readonly { readonly name: string; readonly ok: boolean; readonly fix?: string }[];
  readonly stages: readonly { readonly stage: string; readonly problems: readonly unknown[] }[];
}

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** With `--json`: stdout, parsed. */
  readonly json: Written;
}

type Settings = { readonly isTerminal?: boolean; readonly env?: NodeJS.ProcessEnv; readonly folder?: string };

/** Runs one command line in this process. */
export async function belfry(
  args: readonly string[],
  { isTerminal = false, env = {}, folder = "/" }: Settings = {},
): Promise<Ran> {
  let out = "";
  let err = "";
  const streams = { out: (text: string) => (out += text), err: (text: string) => (err += text), isTerminal };
  const code = await run(args, { streams, env, folder });
  return { code, out, err, json: (args.includes("--json") ? JSON.parse(out) : {}) as Written };
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
