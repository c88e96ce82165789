import { request } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { type Forwarded, startProxy } from "../../src/cli/signed-proxy.ts";

async function proxied(forward: (request: Forwarded) => Promise<Response>) {
  const proxy = await startProxy(forward);
  onTestFinished(() => proxy.close());
  return proxy.url;
}

/** `fetch` writes the Host header itself. */
function asHost(url: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(url, { headers }, (response) => resolve(response.resume().statusCode))
      .once("error", reject)
      .end();
  });
}

test("what is asked and answered goes through as it is", async () => {
  const asked: Forwarded[] = [];
  const url = await proxied((request) => {
    asked.push(request);
    return Promise.resolve(Response.json({ ok: true }, { status: 201, headers: { location: "/jobs/1" } }));
  });
  const headers = { "content-type": "application/json", cookie: "secret" };
  const answer = await fetch(`${url}/jobs?a=1`, { method: "POST", headers, body: '{"kind":"ping"}' });
  expect(answer.status).toBe(201);
  expect(answer.headers.get("location")).toBe("/jobs/1");
  expect(await answer.json()).toEqual({ ok: true });
  expect(asked).toMatchObject([{ method: "POST", path: "/jobs?a=1", body: '{"kind":"ping"}' }]);
  expect(asked[0]?.headers["content-type"]).toBe("application/json");
  expect(asked[0]?.headers).not.toHaveProperty("cookie");
});

test("a stream arrives while it is written", async () => {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({ start: (given) => void (controller = given) });
  const url = await proxied(() => Promise.resolve(new Response(body)));
  const answering = fetch(`${url}/events`);
  controller?.enqueue(new TextEncoder().encode(": first\n\n"));
  const reader = (await answering).body?.getReader();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe(": first\n\n");
  controller?.close();
  expect((await reader?.read())?.done).toBe(true);
});

test("another site's page, or a name that was pointed here, gets nothing done with the operator's rights", async () => {
  let reached = 0;
  const url = await proxied(() => {
    reached += 1;
    return Promise.resolve(new Response("{}"));
  });
  const { host } = new URL(url);
  expect(await asHost(url, { host: "evil.example" })).toBe(403);
  expect(await asHost(url, { host, origin: "https://evil.example" })).toBe(403);
  expect(await asHost(url, { host, "sec-fetch-site": "cross-site" })).toBe(403);
  expect(reached).toBe(0);
  expect(await asHost(url, { host, origin: url })).toBe(200);
});

test.each(["//evil.example/jobs", "/\\evil.example/jobs", "http://evil.example/jobs", "///evil.example"])(
  "nothing is signed for another place: %s",
  async (path) => {
    const asked: string[] = [];
    const url = await proxied((forwarded) => {
      asked.push(forwarded.path);
      return Promise.resolve(new Response("{}"));
    });
    const { host, hostname, port } = new URL(url);
    const status = await new Promise<number | undefined>((resolve, reject) => {
      request({ hostname, port, path, headers: { host } }, (response) => resolve(response.resume().statusCode))
        .once("error", reject)
        .end();
    });
    expect({ status, asked }).toEqual({ status: 400, asked: [] });
  },
);

test("a stage that is away is said so, and a body without end is refused", async () => {
  const url = await proxied(() => Promise.reject(new Error("no route")));
  const away = await fetch(url);
  expect(away.status).toBe(502);
  expect(await away.json()).toMatchObject({ code: "stage-away", detail: "no route" });
  expect((await fetch(url, { method: "POST", body: "x".repeat(1_100_000) })).status).toBe(413);
});
