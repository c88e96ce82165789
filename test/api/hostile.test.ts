import { expect, test } from "vitest";
import { contractLimits } from "../../src/machine/contract-limits.ts";
import { openApi } from "./harness.ts";
import { eachTest } from "../support/each-test.ts";

const opened = eachTest(() => openApi());
const { call } = opened;

const post = (payload: string): string => `{"kind":"greet","payload":${payload}}`;

test.each([
  ["too large", post(JSON.stringify({ name: "x".repeat(300_000) })), 413, "body-too-large"],
  ["100,000 levels deep", post("[".repeat(100_000) + "]".repeat(100_000)), 400, "too-deep"],
  ["objects too deep", post('{"a":'.repeat(70) + "1" + "}".repeat(70)), 400, "too-deep"],
  ["too many keys", post(`{${Array.from({ length: 20_000 }, (_, n) => `"k${n}":1`).join(",")}}`), 400, "too-many-keys"],
  ["a name twice, written in another way", '{"kind":"ping","payload":{"a":1,"\\u0061":2}}', 400, "invalid-request"],
  ["a long text and colons without names", `"${"a".repeat(260_000)}"${":".repeat(10_000)}`, 400, "bad-json"],
  ["cut off", '{"kind":"gre', 400, "bad-json"],
  ["an unclosed string full of brackets", `{"kind":"${"[".repeat(1_000)}`, 400, "bad-json"],
  ["empty", "", 400, "invalid-request"],
])("a body that is %s is refused", async (_, body, status, code) => {
  expect(await call("POST", "/jobs", body)).toMatchObject({ status, body: { code } });
});

test.each([
  [post('{"name":"a\\u0000b"}'), "payload.name"],
  [post('{"name":"\\ud800"}'), "payload.name"],
  [post('{"list":[1,{"deep":1e400}]}'), "payload.list[1].deep"],
  [post('{"a\\u0000":1}'), "payload.a\u{FFFD}"],
])("text and numbers that Postgres cannot store are refused with their path: %s", async (body, path) => {
  const answer = await call("POST", "/jobs", body);
  expect(answer).toMatchObject({ status: 400, body: { code: "not-storable", errors: [{ path }] } });
});

test("brackets and colons inside strings count for nothing", async () => {
  const name = `"\\{[:`.repeat(5_000);
  const { status, body } = await call("POST", "/jobs", { kind: "greet", payload: { name } });
  expect(status).toBe(201);
  expect(body.payload.name).toBe(name);
});

test("a payload at the depth limit passes the check of the body", async () => {
  const depth = contractLimits.payloadDepthMax;
  const { body } = await call("POST", "/jobs", post("[".repeat(depth) + "]".repeat(depth)));
  expect(body.code).toBe("invalid-payload");
});

test("a body that announces no length is cut off at the limit", async () => {
  const { api } = opened;
  let sent = 0;
  const body = new ReadableStream({
    pull(controller) {
      sent += 65_536;
      controller.enqueue(new Uint8Array(65_536).fill(32));
    },
  });
  const headers = { host: "localhost", "content-type": "application/json" };
  const init = { method: "POST", headers, body, duplex: "half" };
  const response = await api.fetch(new Request("http://localhost/jobs", init as RequestInit));
  expect(response.status).toBe(413);
  expect(sent).toBeLessThan(1_000_000);
});

test("a request for another host is refused: a name that was pointed at this machine", async () => {
  for (const host of ["evil.example", "127.0.0.1.evil.example:4400", "", "localhost.evil.example"]) {
    expect(await call("GET", "/jobs", undefined, { host })).toMatchObject({
      status: 403,
      body: { code: "foreign-host" },
    });
  }
  for (const host of ["127.0.0.1:4400", "localhost", "[::1]:4400", "LOCALHOST:1"]) {
    expect((await call("GET", "/jobs", undefined, { host })).status).toBe(200);
  }
});

test("a page of another site is refused, even with the right host", async () => {
  const headers = { host: "127.0.0.1:4400", origin: "https://evil.example", "content-type": "application/json" };
  expect((await call("POST", "/jobs", { kind: "ping" }, headers)).status).toBe(403);
  expect((await call("GET", "/jobs", undefined, { ...headers, origin: "null" })).status).toBe(403);
});

test.each(["text/plain", "application/x-www-form-urlencoded", ""])(
  "a write with content type %j is refused: a form could send it",
  async (type) => {
    const headers = { host: "127.0.0.1", ...(type ? { "content-type": type } : {}) };
    expect((await call("POST", "/jobs", '{"kind":"ping"}', headers)).status).toBe(415);
    expect((await call("POST", "/jobs/1/cancel", "{}", headers)).status).toBe(415);
  },
);

test("an unexpected failure answers with its request id and says nothing of the inside", async () => {
  const { insight, logged } = opened;
  insight.transaction = () => Promise.reject(new Error("relation belfry.secret_table does not exist"));
  const { status, body } = await call("GET", "/readyz");
  expect(status).toBe(500);
  expect(JSON.stringify(body)).not.toContain("secret_table");
  expect(logged).toMatchObject([{ message: "request failed", fields: { requestId: body.requestId } }]);
});

test("an unknown route names what there is, and a known one its methods", async () => {
  const { api } = opened;
  const unknown = await call("GET", "/job");
  expect(unknown).toMatchObject({ status: 404, body: { code: "no-such-route" } });
  expect(unknown.body.detail).toContain("did you mean /jobs");
  expect(await call("DELETE", "/jobs/1")).toMatchObject({ status: 405, body: { code: "method-not-allowed" } });
  const options = await api.fetch(
    new Request("http://127.0.0.1/jobs", { method: "OPTIONS", headers: { host: "127.0.0.1" } }),
  );
  expect([options.status, options.headers.get("allow")]).toEqual([204, "POST, GET, HEAD, OPTIONS"]);
});
