import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startApi } from "../../../src/local/api-process.ts";
import { hostileTexts, largest, refused } from "../hostile-texts.ts";
import type { Checklist, Proof } from "../proof.ts";
import { startInstalled, type System } from "../system.ts";
import { elapsedMs } from "../until.ts";

const bin = fileURLToPath(new URL("../../../bin/belfry.mjs", import.meta.url));
const execute = promisify(execFile);
const flood = { requests: 300, atOnce: 20 };
const healthMsMax = 2_000;
const rssMbMax = 200;

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: Record<string, unknown> & { readonly id: string };
}

type Call = (path: string, body?: string) => Promise<Answer>;

/** What people and programs send by mistake. */
export const hostileInput: Proof = {
  name: "hostile-input",
  about: "bodies beyond every limit, and text that steers databases, pages, logs, terminals and spreadsheets",
  guards: ["storable", "scan", "terminal"],
  async run(context, list) {
    const system = await startInstalled(context, { app: "hostile" });
    const api = await startApi({ children: system.processes, env: system.env, ports: [0] });
    const pid = system.processes.running().find(({ name }) => name === "api")?.pid ?? 0;
    const call = callerOf(api.url);
    await refuses(list, call);
    const ids = await stores(list, system, call);
    const work = system.work();
    await system.untilEnded(120_000);
    await work.stop();
    await showsInert(list, system, { url: api.url, call, ids });
    await bears(list, call, pid);
    await api.stop();
    list.expectNone("no process writes a line that is not JSON", plain(system));
  },
};

function callerOf(url: string): Call {
  return async (path, body) => {
    const headers = { "content-type": "application/json" };
    const init = body === undefined ? {} : { method: "POST", headers, body };
    const response = await fetch(`${url}${path}`, init);
    return {
      status: response.status,
      type: response.headers.get("content-type") ?? "",
      body: (await response.json()) as Answer["body"],
    };
  };
}

async function refuses(list: Checklist, call: Call): Promise<void> {
  for (const { what, body, path } of refused) {
    const answer = await call("/jobs", body);
    const errors = (answer.body["errors"] ?? []) as readonly { path: string }[];
    const isNamed = path === null || errors.some((error) => path.test(error.path));
    const isProblem = answer.status >= 400 && answer.status < 500 && answer.type === "application/problem+json";
    list.expect(
      `${what} is refused with its place`,
      isProblem && isNamed,
      `${answer.status} ${JSON.stringify(errors)}`,
    );
  }
  const { status } = await call("/jobs", largest);
  list.expectIs("a payload at the limit is taken", status, 201);
}

/** @returns the ids of the jobs, in the order of the texts. */
async function stores(list: Checklist, { row }: System, call: Call): Promise<readonly string[]> {
  const ids: string[] = [];
  const wrong: string[] = [];
  for (const text of hostileTexts) {
    const made = await call("/jobs", JSON.stringify({ kind: "echo", key: text, payload: { text, [text]: [text] } }));
    ids.push(made.body.id);
    const found = await call(`/jobs?${new URLSearchParams({ key: text, "payload.text": text }).toString()}`);
    const jobs = (found.body["jobs"] ?? []) as readonly { id: string; key: string; payload: { text: string } }[];
    const stored = await row("select key, payload ->> 'text' as text from belfry.job where id = $1", [made.body.id]);
    const isSame = made.status === 201 && jobs.length === 1 && jobs[0]?.key === text && jobs[0].payload.text === text;
    if (!isSame || stored["key"] !== text || stored["text"] !== text) wrong.push(JSON.stringify(text));
    for (const path of [`/jobs/${encodeURIComponent(text)}`, `/lanes/${encodeURIComponent(text)}/pause`]) {
      const { status } = await call(path, path.startsWith("/lanes") ? "{}" : undefined);
      if (status < 400 || status >= 500) wrong.push(`${path}: ${status}`);
    }
  }
  list.expectNone("every text is stored and found as it was sent", wrong);
  const proto = await call("/jobs", '{"kind":"echo","payload":{"__proto__":{"polluted":true},"text":"p"}}');
  const { is } = await row("select payload::text like '%__proto__%' as is from belfry.job where id = $1", [
    proto.body.id,
  ]);
  list.expect("a member called __proto__ is data", proto.status === 201 && is === true, proto.status);
  return ids;
}

async function showsInert(
  list: Checklist,
  system: System,
  { url, call, ids }: { url: string; call: Call; ids: readonly string[] },
): Promise<void> {
  const failed = await Promise.all(ids.map((id) => call(`/jobs/${id}`)));
  list.expectNone(
    "the error of each try says what was thrown",
    failed.flatMap(({ body }, n) => {
      const error = body["error"] as { message?: string } | null;
      return error?.message === hostileTexts[n] ? [] : [`${hostileTexts[n]}: ${error?.message}`];
    }),
  );
  const echoes = system.processes.lines.filter(({ message }) => message.startsWith("echo "));
  const logged = (text: string): string =>
    text.replaceAll("\u2028", String.raw`\u2028`).replaceAll("\u2029", String.raw`\u2029`);
  const wrong = hostileTexts.filter(
    (text) => echoes.filter(({ fields }) => fields["text"] === logged(text)).length !== 1,
  );
  list.expectNone("each text is one line of the log", wrong);
  const asked = ["jobs", "list", "--columns", "id,kind,key,error", "--limit", "200", "--url", url];
  const belfry = async (...args: string[]): Promise<string> =>
    (await execute(process.execPath, [bin, ...asked, ...args], { env: system.env })).stdout;
  const shown = await belfry();
  list.expect("a terminal gets no control character", !/[^\P{Cc}\n\t]|[\u202a-\u202e]/u.test(shown));
  list.expectIs("and a line a job", shown.trim().split("\n").length, ids.length + 3);
  const { jobs } = JSON.parse(await belfry("--json")) as { jobs: readonly { key: string | null }[] };
  const missing = hostileTexts.filter((text) => !jobs.some(({ key }) => key === text));
  list.expectNone("JSON has every text as it is", missing);
  const cells = cellsOf(await belfry("--csv"));
  list.expectIs("CSV has a row a job", cells.length, ids.length + 3);
  list.expectNone(
    "no cell of the CSV is a formula",
    cells.flat().filter((text) => /^[=+\-@\t\r]/.test(text)),
  );
  const keyAt = cells[0]?.indexOf("KEY") ?? -1;
  const keys = new Set(cells.map((row) => row[keyAt]?.replace(/^'(?=[=+\-@])/, "")));
  list.expectNone(
    "CSV has every text, its quotes and breaks inside its cell",
    hostileTexts.filter((text) => !keys.has(text)),
  );
}

/** A reader of RFC 4180 that shares nothing with the writer. */
function cellsOf(text: string): readonly (readonly string[])[] {
  const rows: string[][] = [[]];
  for (const match of text.replace(/\n$/, "").matchAll(/("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n|$)/g)) {
    const [whole, cell = "", end] = match;
    if (whole === "" && end === "" && rows.at(-1)?.length === 0) break;
    rows.at(-1)?.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    if (end === "\r\n") rows.push([]);
    if (end === "") break;
  }
  return rows;
}

/** The worst bodies, many at once: others are still answered and nothing of it is kept. */
async function bears(list: Checklist, call: Call, pid: number): Promise<void> {
  const before = rssMb(pid);
  const over = new AbortController();
  let slowest = 0;
  const watching = (async (): Promise<string | null> => {
    while (!over.signal.aborted) {
      const begun = elapsedMs();
      const answer = await call("/jobs?limit=1").catch((error: unknown) => String(error));
      if (typeof answer === "string" || answer.status !== 200) return `the list: ${JSON.stringify(answer)}`;
      slowest = Math.max(slowest, elapsedMs() - begun);
    }
    return null;
  })();
  const statuses = new Set<number>();
  let next = 0;
  await Promise.all(
    Array.from({ length: flood.atOnce }, async () => {
      for (next += 1; next <= flood.requests; next += 1) {
        statuses.add((await call("/jobs", refused[next % refused.length]?.body ?? "")).status);
      }
    }),
  );
  over.abort();
  list.expectNone("others are answered beside it", [(await watching) ?? []].flat());
  const grown = rssMb(pid) - before;
  list.expectNone(
    "a flood of it is refused and nothing else",
    [...statuses].filter((status) => status < 400 || status >= 500).map(String),
  );
  list.expectAtMost(`others are answered within ${healthMsMax} ms`, slowest, healthMsMax);
  list.expectAtMost(`memory grows by ${rssMbMax} MB at most`, grown, rssMbMax);
  list.figure(`slowest list beside the flood ${Math.round(slowest)} ms, memory +${Math.round(grown)} MB`);
}

function rssMb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? Number.NaN) / 1_024;
}

const plain = ({ processes }: System): readonly string[] =>
  [...new Set([...processes.ends, ...processes.lines].map(({ pid }) => pid))].flatMap((pid) =>
    processes.plainLines(pid).filter((line) => line.trim() !== "" && !line.startsWith("held by ")),
  );
