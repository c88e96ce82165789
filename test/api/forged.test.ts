import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { defineApp } from "belfry";
import { expect, test, vi } from "vitest";
import { openApi } from "./harness.ts";
import { listening } from "../support/listening.ts";

const numbers = ["0", "00", "1", "18446744073709551615", "18446744073709551616", "99999999999999999999"];

test("whatever a client says it saw is answered: with a page, a gap, or what is wrong with it", async () => {
  const { call } = await openApi();
  await call("POST", "/jobs", { kind: "ping" });
  const { cursor } = (await call("GET", "/events")).body as unknown as { cursor: string };
  const [system = "", place = ""] = cursor.split("~");
  const forged = [
    ...numbers.flatMap((n) =>
      [`${n}:${n}:`, `1:${n}:`, `1:${n}:${n}`].map((snapshot) => `${system}~${snapshot}:${n}:${n}`),
    ),
    ...numbers.flatMap((n) => [`${system}~1:1::${n}:1`, `${system}~1:1::1:${n}`, `${n}~${place}`]),
    ...numbers.flatMap((n) => [`${cursor}~${place}~${n}~${n}`, `${system}~1:1::1:1~${n}:${n}::${n}:1~1~1`]),
    `${system}~5:1::5:1`,
    `${system}~1:5::4:1`,
    `${system}~1:5:9,8,7:9:1`,
    `${system}~1:9:${Array.from({ length: 2_000 }, (_, n) => n + 2).join(",")}:9:1`,
    `${system}~1:9:3,3,3:9:1`,
    "~~~~",
    "1~-1:1:",
    "1~1e3:1:",
  ];
  for (const each of forged) {
    const { status } = await call("GET", `/events?cursor=${encodeURIComponent(each)}`);
    expect({ each, status }).toEqual({ each, status: expect.toBeOneOf([200, 400]) as number });
  }
});

test("the id of a request is the server's own, whatever its client calls it", async () => {
  const { api } = await openApi();
  const headers = { host: "127.0.0.1", "x-request-id": "forged" };
  const answer = await api.fetch(new Request("http://127.0.0.1/jobs/999", { headers }));
  const { requestId } = (await answer.json()) as { requestId: string };
  expect([requestId, answer.headers.get("x-request-id")]).toEqual([expect.stringMatching(/^trace-\d+$/), requestId]);
});

test("a body that is cut off is the client's fault, and leaves neither an error in the log nor an audit row", async () => {
  const opened = await openApi();
  const server = createAdaptorServer({ fetch: opened.api.fetch });
  const port = await listening(server);
  const socket = connect(port, "127.0.0.1");
  const head = "POST /jobs HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n";
  socket.write(`${head}content-length: 100\r\n\r\n{"kind"`);
  await once(server, "request");
  socket.destroy();
  const chunked = request({ port, method: "POST", path: "/jobs", headers: { "content-type": "application/json" } });
  chunked.on("error", () => {});
  chunked.write('{"kind"');
  await once(server, "request");
  chunked.destroy();
  await vi.waitFor(async () => expect(await connections(server)).toBe(0), { timeout: 30_000 });
  expect(opened.logged).toEqual([]);
  expect((await opened.pool.query("select from belfry.audit")).rowCount).toBe(0);
});

const connections = (server: ReturnType<typeof createAdaptorServer>): Promise<number> =>
  new Promise((resolve) => server.getConnections((_, count) => resolve(count)));

test("an app's own routes are for those who may: a reader looks, only who operates changes, and that is noted without its body", async () => {
  const routes = { fetch: () => Response.json({ ok: true }) };
  const apps = [defineApp({ name: "shop", routes })];
  const reader = await openApi(apps, { caller: { name: "bob", role: "read" } });
  expect((await reader.call("GET", "/apps/shop/x")).status).toBe(200);
  const head = new Request("http://127.0.0.1/apps/shop/x", { method: "HEAD", headers: { host: "127.0.0.1" } });
  expect((await reader.api.fetch(head)).status).toBe(200);
  expect(await reader.call("POST", "/apps/shop/x", {})).toMatchObject({ status: 403, body: { code: "needs-operate" } });
  const unsigned = await openApi(apps, { caller: null });
  expect((await unsigned.call("GET", "/apps/shop/x")).status).toBe(401);
  const ada = await openApi(apps);
  expect((await ada.call("GET", "/apps/shop/x")).status).toBe(200);
  expect((await ada.call("POST", "/apps/shop/x", { card: "4111" })).status).toBe(200);
  const { rows } = await ada.pool.query("select caller, action, target, status, detail from belfry.audit");
  const row = { caller: "ada", action: "POST /apps/shop", target: "/apps/shop/x", status: 200, detail: null };
  expect(rows).toEqual([row]);
});
