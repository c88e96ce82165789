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

/** A whole answer of the API. */
export interface Answered {
  /** `GET /jobs/{id}`. */
  readonly operation: string;
  readonly body: object;
}

/** The API on a fresh database behind a real port; stopped when the test ends. What it answers is held to its document. */
export async function serveApi(options: Parameters<typeof openApi>[1] = {}, apps?: Parameters<typeof openApi>[0]) {
  const opened = await openApi(apps, options);
  const answers: Answered[] = [];
  const fetch = async (request: Request): Promise<Response> => {
    const response = await opened.api.fetch(request);
    const { pathname, search } = new URL(request.url);
    const isJson = response.headers.get("content-type")?.includes("json") === true;
    const body = isJson ? ((await new Response(plainBody(response.clone())).json()) as object) : "";
    opened.documentation.check(request.method, `${pathname}${search}`, response, body);
    if (typeof body === "object")
      answers.push({ operation: opened.documentation.nameOf(request.method, pathname), body });
    return response;
  };
  const server = serve({ fetch, hostname: "127.0.0.1", port: 0 });
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { ...opened, url, answers, belfry: (...args: string[]) => belfry(args, { env: { BELFRY_URL: url } }) };
}

const plainBody = ({ headers, body }: Response): ReadableStream | null =>
  headers.get("content-encoding") === "gzip" ? (body?.pipeThrough(new DecompressionStream("gzip")) ?? null) : body;

/** The names and kinds of all members: what a script may rely on. */
export function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])];
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shapeOf(each)]));
}

/** Where a value comes from: the answer that is or holds it, and else its members, each with where that comes from. */
export function originOf(value: unknown, answers: readonly Answered[]): string {
  const parts = new Map<string, string>();
  for (const { operation, body } of answers) nameParts(parts, body, operation);
  const origin = (part: unknown): string => {
    if (typeof part !== "object" || part === null) return part === null ? "null" : typeof part;
    const known = parts.get(JSON.stringify(part));
    if (known !== undefined) return known;
    if (Array.isArray(part)) return `[${[...new Set(part.map(origin))].join(", ")}]`;
    const spread = answers.find(({ body }) => isSpreadIn(body, part));
    const own = Object.entries(part)
      .filter(([name]) => spread === undefined || !(name in spread.body))
      .map(([name, each]) => `${name}: ${origin(each)}`);
    return `{ ${[...(spread === undefined ? [] : [`...${spread.operation}`]), ...own].join(", ")} }`;
  };
  return origin(value);
}

function nameParts(parts: Map<string, string>, value: unknown, name: string): void {
  if (typeof value !== "object" || value === null || Object.keys(value).length === 0) return;
  const text = JSON.stringify(value);
  if (!parts.has(text)) parts.set(text, name);
  for (const [key, part] of Object.entries(value))
    nameParts(parts, part, `${name} ${Array.isArray(value) ? "each" : key}`);
}

const isSpreadIn = (body: object, value: object): boolean =>
  Object.entries(body).every(
    ([name, each]) => JSON.stringify(each) === JSON.stringify((value as Record<string, unknown>)[name]),
  );

/** Credentials that sign; no server checks them. */
export function signIn(): void {
  vi.stubEnv("AWS_PROFILE", undefined);
  for (const [name, value] of Object.entries({ AWS_ACCESS_KEY_ID: "AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY: "secret" })) {
    vi.stubEnv(name, value);
  }
  onTestFinished(() => void vi.unstubAllEnvs());
}
