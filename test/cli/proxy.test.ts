import { once } from "node:events";
import { connect, createServer as createTcpServer } from "node:net";
import { createServer, request } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { isOtherUser, peerUser, type Forwarded, startProxy } from "../../src/cli/signed-proxy.ts";
import { listening } from "../support/listening.ts";

type Options = Parameters<typeof startProxy>[1];

async function opened(forward: (request: Forwarded) => Promise<Response>, options: Options = {}) {
  const proxy = await startProxy(forward, options);
  onTestFinished(() => proxy.close());
  return proxy;
}

/** Its address, with what a program sends to be let in. */
async function proxied(forward: (request: Forwarded) => Promise<Response>) {
  const { url, bearer } = await opened(forward);
  return { url, session: { authorization: `Bearer ${bearer}` } };
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
  const { url, session } = await proxied((request) => {
    asked.push(request);
    return Promise.resolve(Response.json({ ok: true }, { status: 201, headers: { location: "/jobs/1" } }));
  });
  const headers = { "content-type": "application/json", cookie: "secret", ...session };
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
  const { url, session } = await proxied(() => Promise.resolve(new Response(body)));
  const answering = fetch(`${url}/events`, { headers: session });
  controller?.enqueue(new TextEncoder().encode(": first\n\n"));
  const reader = (await answering).body?.getReader();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe(": first\n\n");
  controller?.close();
  expect((await reader?.read())?.done).toBe(true);
});

test("another site's page, or a name that was pointed here, gets nothing done with the operator's rights", async () => {
  let reached = 0;
  const { url, session } = await proxied(() => {
    reached += 1;
    return Promise.resolve(new Response("{}"));
  });
  const { host } = new URL(url);
  expect(await asHost(url, { host: "evil.example", ...session })).toBe(403);
  expect(await asHost(url, { host, origin: "https://evil.example", ...session })).toBe(403);
  expect(await asHost(url, { host, "sec-fetch-site": "cross-site", ...session })).toBe(403);
  // A page of another port of this machine.
  expect(await asHost(url, { host, "sec-fetch-site": "same-site", ...session })).toBe(403);
  expect(await asHost(url, { host, origin: "http://127.0.0.1:1", ...session })).toBe(403);
  expect(await asHost(url, { host })).toBe(401);
  expect(await asHost(url, { host, authorization: "Bearer guessed" })).toBe(401);
  expect(reached).toBe(0);
  expect(await asHost(url, { host, origin: url, ...session })).toBe(200);
});

test.each(["//evil.example/jobs", "/\\evil.example/jobs", "http://evil.example/jobs", "///evil.example"])(
  "nothing is signed for another place: %s",
  async (path) => {
    const asked: string[] = [];
    const { url, session } = await proxied((forwarded) => {
      asked.push(forwarded.path);
      return Promise.resolve(new Response("{}"));
    });
    const { host, hostname, port } = new URL(url);
    const status = await new Promise<number | undefined>((resolve, reject) => {
      request({ hostname, port, path, headers: { host, ...session } }, (response) =>
        resolve(response.resume().statusCode),
      )
        .once("error", reject)
        .end();
    });
    expect({ status, asked }).toEqual({ status: 400, asked: [] });
  },
);

test("a stage that is away is said so, and a body without end is refused", async () => {
  const { url, session } = await proxied(() => Promise.reject(new Error("no route")));
  const away = await fetch(url, { headers: session });
  expect(away.status).toBe(502);
  expect(await away.json()).toMatchObject({ code: "stage-away", detail: "no route" });
  expect((await fetch(url, { method: "POST", headers: session, body: "x".repeat(1_100_000) })).status).toBe(413);
});

test("the printed address signs one browser in, once, and leaves no token in its history", async () => {
  const { url, open } = await opened(() => Promise.resolve(new Response("{}")));
  const first = await fetch(open, { redirect: "manual" });
  expect([first.status, first.headers.get("location")]).toEqual([303, "/console/"]);
  const cookie = first.headers.get("set-cookie") ?? "";
  expect(cookie).toMatch(/; HttpOnly; SameSite=Strict$/);
  expect((await fetch(open, { redirect: "manual" })).status).toBe(401);
  expect((await fetch(`${url}/jobs`)).status).toBe(401);
  expect((await fetch(`${url}/jobs`, { headers: { cookie: cookie.split(";")[0] ?? "" } })).status).toBe(200);
});

test("the session ends after an hour without a request, and after twelve in any case; what is refused is shown", async () => {
  let nowMs = 0;
  const refused: string[] = [];
  const options = { nowMs: () => nowMs, onRefused: (code: string) => void refused.push(code) };
  const start = async () => await opened(() => Promise.resolve(new Response("{}")), options);
  const ask = async ({ url, bearer }: Awaited<ReturnType<typeof start>>, afterMinutes: number) => {
    nowMs += afterMinutes * 60_000;
    return (await fetch(`${url}/jobs`, { headers: { authorization: `Bearer ${bearer}` } })).status;
  };
  const idle = await start();
  expect([await ask(idle, 60), await ask(idle, 61), await ask(idle, 0)]).toEqual([200, 401, 401]);
  expect((await fetch(idle.open, { redirect: "manual" })).status).toBe(401);
  const busy = await start();
  const hours = [];
  for (let half = 0; half < 25; half += 1) hours.push(await ask(busy, 30));
  expect(hours).toEqual([...Array<number>(24).fill(200), 401]);
  expect(new Set(refused)).toEqual(new Set(["session-ended"]));
});

test("the stage's headers reach the browser, so that its page cannot be framed, and those of its connection do not", async () => {
  const headers = {
    "content-security-policy": "frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-request-id": "r1",
    "set-cookie": "stage=1",
  };
  const { url, session } = await proxied(() => Promise.resolve(new Response("{}", { headers })));
  const answer = await fetch(`${url}/console/`, { headers: session });
  const { "set-cookie": _, ...kept } = headers;
  expect(Object.fromEntries(answer.headers)).toMatchObject(kept);
  expect(answer.headers.has("set-cookie")).toBe(false);
});

test("with --read-only nothing that changes something is passed on", async () => {
  const methods: string[] = [];
  const { url, bearer } = await opened(
    ({ method }) => {
      methods.push(method);
      return Promise.resolve(new Response("{}"));
    },
    { readOnly: true },
  );
  const headers = { authorization: `Bearer ${bearer}` };
  for (const method of ["POST", "PUT", "PATCH", "DELETE"])
    expect((await fetch(url, { method, headers })).status).toBe(403);
  expect((await fetch(url, { headers })).status).toBe(200);
  expect(methods).toEqual(["GET"]);
});

test("whose program is at the other end of a connection is read from the system, or not known", async () => {
  const seen: unknown[] = [];
  const server = createServer((asking, response) => {
    void Promise.all([peerUser(asking.socket), isOtherUser(asking.socket), isOtherUser(asking.socket, 4_321)]).then(
      (found) => {
        seen.push(found);
        response.end();
      },
    );
  });
  await fetch(`http://127.0.0.1:${await listening(server)}`);
  const own = process.getuid?.() ?? null;
  // Only Linux says it. Root is no other user.
  expect(seen).toEqual([process.platform === "linux" ? [own, false, own !== 0] : [null, false, false]]);
});

test("an end that its program has closed is of no user, though the system names root for it", async () => {
  const ended = Promise.withResolvers<[unknown, boolean]>();
  const server = createTcpServer({ allowHalfOpen: true }, (socket) => {
    onTestFinished(() => void socket.destroy());
    const look = async () => ended.resolve([await peerUser(socket), await isOtherUser(socket)]);
    socket.on("data", () => {}).once("end", () => void look().catch(ended.reject));
  });
  const client = connect(await listening(server), "127.0.0.1");
  await once(client, "connect");
  client.destroySoon();
  await once(client, "close");
  expect(await ended.promise).toEqual(process.platform === "linux" ? [undefined, true] : [null, false]);
});
