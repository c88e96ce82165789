import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, test } from "vitest";
import { belfry, serveApi } from "./harness.ts";

const bin = fileURLToPath(new URL("../../bin/belfry.mjs", import.meta.url));

/** An assistant that starts the command as its settings say. */
async function assistant(url: string, ...more: string[]) {
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [bin, "mcp", "--url", url, ...more] }),
  );
  onTestFinished(() => client.close());
  return client;
}

async function ask(client: Client, name: string, args: Record<string, unknown> = {}) {
  const { isError = false, content } = await client.callTool({ name, arguments: args });
  const [first] = content;
  const text = first?.type === "text" ? first.text : "";
  return { isError, text, json: isError ? null : (JSON.parse(text) as Record<string, unknown>) };
}

test("an assistant reads by the tools that the API's document names, and is refused what changes something", async () => {
  const { url, belfry: run } = await serveApi();
  await run("jobs", "enqueue", "greet", '{"name":"Ada"}', "--key", "a/b");
  const { json: second } = await run("jobs", "enqueue", "greet", '{"name":"Bob"}', "--json");
  const client = await assistant(url);
  expect(client.getInstructions()).toMatch(/explainJob for why a job does not start.*Nothing can be changed here\.$/s);
  const { tools } = await client.listTools();
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as {
    paths: Record<string, { get?: { operationId: string; responses: Record<string, { content?: object }> } }>;
  };
  const reads = Object.values(paths).flatMap(({ get }) =>
    get !== undefined && "application/json" in (get.responses["200"]?.content ?? {}) ? get.operationId : [],
  );
  expect(tools.map(({ name }) => name).toSorted()).toEqual(reads.toSorted());
  expect(tools.filter(({ annotations }) => annotations?.readOnlyHint !== true)).toEqual([]);
  const plain = tools.filter(({ inputSchema }) => (inputSchema.required ?? []).length === 0);
  expect(plain.length).toBeGreaterThan(15);
  for (const { name } of plain) expect([name, (await ask(client, name)).isError]).toEqual([name, false]);

  expect((await ask(client, "getJob", { id: second.id })).json).toMatchObject({ payload: { name: "Bob" } });
  const found = await ask(client, "listJobs", {
    payload: { "payload.name": "Ada" },
    state: ["PENDING", "QUEUED"],
    limit: 5,
  });
  expect(found.json).toMatchObject({ jobs: [{ key: "a/b" }] });
  expect(await ask(client, "getJob", { id: "999" })).toMatchObject({ isError: true, text: "there is no job 999" });
  expect(await ask(client, "listJobs", { limit: 0 })).toMatchObject({
    isError: true,
    text: expect.stringMatching(/limit/),
  });
  expect((await ask(client, "listJobs", { stat: "FAILED" })).text).toMatch(
    /^stat is no parameter of it, which has state,id,/,
  );
  expect((await ask(client, "getSchedule", { id: ".." })).text).toMatch(/^id is "\.\.": it must be an id/);
  expect((await ask(client, "getJob")).text).toBe("id is missing");
  expect((await ask(client, "listJobs", { payload: { state: "FAILED" } })).text).toMatch(/^payload must be an object/);
  const { json: long } = await run("jobs", "enqueue", "greet", JSON.stringify({ name: "x".repeat(200_000) }), "--json");
  expect((await ask(client, "getJob", { id: long.id })).json).toMatchObject({
    payload: { name: expect.stringMatching(/^x{4000}\.\.\. \(200000 characters\)$/) },
  });
  expect((await ask(client, "cancelJob", { id: second.id })).text).toMatch(/no tool "cancelJob".*reads only/);
});

test("with --write it changes what its caller may, and the audit has it", async () => {
  const { url } = await serveApi();
  const client = await assistant(url, "--write");
  const body = { kind: "greet", key: "once", payload: { name: "Ada" } };
  const { json } = await ask(client, "createJob", { body });
  expect(json).toMatchObject({ created: true });
  expect((await ask(client, "createJob", { body: { ...body, payload: {} } })).text).toMatch(
    /payload of "greet" is invalid: name/,
  );
  expect((await ask(client, "createJob", { kind: "greet" })).text).toMatch(
    /^kind is no parameter.*body, whose members/,
  );
  expect((await ask(client, "redriveDeadLetters", { body: null })).text).toMatch(/^body is missing/);
  const id = String(json?.["id"]);
  expect((await ask(client, "cancelJob", { id })).json).toMatchObject({ state: "CANCELED" });
  expect((await ask(client, "listAudits", { target: `/jobs/${id}` })).json).toMatchObject({
    audits: [{ action: "POST /jobs/:id/cancel", status: 200 }],
  });
});

/** As a program starts it that writes lines of its own. */
async function started(lines: string, node: readonly string[] = []) {
  const { url } = await serveApi();
  const child = spawn(process.execPath, [...node, bin, "mcp", "--url", url]);
  let written = "";
  let noted = "";
  child.stdout.on("data", (text: Buffer) => (written += text.toString()));
  child.stderr.on("data", (text: Buffer) => (noted += text.toString()));
  child.stdin.on("error", () => {}).end(lines);
  const [code] = (await once(child, "close")) as [number | null];
  return { code, written, noted };
}

test("it ends when what is asked of it ends", async () => {
  expect(await started("")).toEqual({ code: 0, written: "", noted: "" });
  const child = spawn(process.execPath, [bin, "mcp", "--url", (await serveApi()).url], {
    stdio: ["ignore", "ignore", "ignore"],
  });
  expect(await once(child, "close")).toEqual([0, null]);
});

test("lines that are not of the protocol are noted, and what follows them is answered", async () => {
  const ping = { jsonrpc: "2.0", id: 7, method: "ping" };
  const { code, written, noted } = await started(`GET / HTTP/1.1\n{"jobs":[]}\n${JSON.stringify(ping)}\n`);
  expect([code, written]).toEqual([0, '{"result":{},"jsonrpc":"2.0","id":7}\n']);
  expect(noted).toContain("jsonrpc");
});

test("without the package of the protocol it says what to install", async () => {
  // Node looks for it where no package is.
  const hooks = `import { registerHooks } from "node:module";
registerHooks({ resolve: (name, context, next) => next(name, name.startsWith("@modelcontextprotocol/") ? { ...context, parentURL: "file:///" } : context) });`;
  const { code, noted } = await started("", ["--import", `data:text/javascript,${encodeURIComponent(hooks)}`]);
  expect([code, noted]).toEqual([
    1,
    "error: this command needs a package: npm install -D @modelcontextprotocol/server@2\n",
  ]);
});

test("over HTTP it needs the bearer that the command printed", async () => {
  const { url } = await serveApi();
  const stop = new AbortController();
  const address = Promise.withResolvers<{ url: string; bearer: string }>();
  const running = belfry(["mcp", "--port", "0", "--url", url, "--json"], {
    interrupted: stop.signal,
    onOut: (out) => address.resolve(JSON.parse(out)),
  });
  const { url: mcp, bearer } = await address.promise;
  const client = new Client({ name: "test", version: "1.0.0" });
  const authorization = `Bearer ${bearer}`;
  await client.connect(
    new StreamableHTTPClientTransport(new URL(mcp), { requestInit: { headers: { authorization } } }),
  );
  expect((await ask(client, "getHealth")).json).toMatchObject({ status: "ok" });
  await client.close();
  const stranger = new Client({ name: "stranger", version: "1.0.0" });
  await expect(stranger.connect(new StreamableHTTPClientTransport(new URL(mcp)))).rejects.toThrow(/401|unauthorized/i);
  stop.abort();
  expect((await running).code).toBe(130);
});
