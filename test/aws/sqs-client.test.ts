import { createHash, createHmac } from "node:crypto";
import { createServer } from "node:net";
import { defaultProvider } from "@aws-sdk/credential-provider-node";
import { SQSClient, SendMessageBatchCommand } from "@aws-sdk/client-sqs";
import { expect, onTestFinished, test, vi } from "vitest";
import { SqsClient, type SqsClientOptions } from "../../src/aws/sqs-client.ts";
import { type Answer, type Call, type Reply, serve } from "../support/replies.ts";
import { listening } from "../support/listening.ts";

const keys = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret", sessionToken: "token" };
const region = "eu-west-1";
const input = {
  QueueUrl: "https://queue/1/mail",
  Entries: [{ Id: "0", MessageBody: "Gr\u00fc\u00dfe", DelaySeconds: 0 }],
};

const done: Reply = { status: 200, body: { Successful: [{ Id: "0" }] } };
const refusal = (status: number, __type: string, headers = {}): Reply => ({
  status,
  body: { __type: `com.amazonaws.sqs#${__type}`, message: "no" },
  headers: { "x-amzn-requestid": "r-1", ...headers },
});
/** Headers, and then only the first half of the body. */
const half: Answer = (_request, response) => {
  response.writeHead(200, { "content-length": 100 }).write('{"Successful":');
  setImmediate(() => response.destroy());
};

async function client(answers: readonly Answer[], options: Partial<SqsClientOptions> = {}) {
  const { url, calls } = await serve(...answers);
  const sqs = new SqsClient({ url, region, credentials: async () => keys, ...options });
  onTestFinished(() => sqs.destroy());
  return { sqs, calls, url, send: (signal?: AbortSignal) => sqs.call("SendMessageBatch", input, signal && { signal }) };
}

test("its request is the SDK's in operation, type and body, and the signature covers what arrives", async () => {
  const { calls, send, url } = await client([done]);
  const sdk = new SQSClient({ endpoint: url, region, credentials: keys });
  await send();
  await sdk.send(new SendMessageBatchCommand(input)).catch(() => {});
  sdk.destroy();
  const [own, theirs] = calls.map(({ headers, body }) => ({
    type: headers["content-type"],
    operation: headers["x-amz-target"],
    token: headers["x-amz-security-token"],
    digest: headers["x-amz-content-sha256"],
    input: JSON.parse(body) as unknown,
  }));
  expect(own).toEqual(theirs);
  for (const call of calls) expect(call.headers.authorization).toContain(`Signature=${signatureOf(call)}`);
});

test("calls in sequence share one socket", async () => {
  const { calls, send } = await client([done]);
  for (let n = 0; n < 3; n += 1) await send();
  expect(new Set(calls.map(({ port }) => port)).size).toBe(1);
});

test("a call that meets a kept socket in the moment the server closes it is repeated on another", async () => {
  const { calls, send } = await client([done, null, done]);
  await send();
  await expect(send()).resolves.toEqual(done.body);
  expect(calls[2]?.port).not.toBe(calls[1]?.port);
});

test.each<[string, Answer]>([
  ["half an answer", half],
  ["503 in the words of a proxy", { status: 503, body: "<html>busy</html>" }],
  ["500", refusal(500, "InternalFailure")],
  ["a throttled call", refusal(400, "RequestThrottled")],
])("%s is repeated", async (_what, answer) => {
  const { calls, send } = await client([answer, done]);
  await expect(send()).resolves.toEqual(done.body);
  expect(calls).toHaveLength(2);
});

test("a refusal is thrown at once with operation, code, text and request id", async () => {
  const { calls, send } = await client([refusal(400, "QueueDoesNotExist")]);
  await expect(send()).rejects.toMatchObject({
    name: "QueueDoesNotExist",
    message: "SQS answered SendMessageBatch with 400 QueueDoesNotExist: no (request r-1)",
  });
  expect(calls).toHaveLength(1);
});

test("200 with what is no JSON is an error that shows it", async () => {
  const { send } = await client([{ status: 200, body: "<html>log in</html>" }]);
  await expect(send()).rejects.toThrow("SQS answered SendMessageBatch with 200 UnknownError: <html>log in</html>");
});

test("a service that is down gets five attempts, and fewer once many calls have failed", async () => {
  vi.spyOn(Math, "random").mockReturnValue(0);
  const { calls, send } = await client([refusal(503, "ServiceUnavailable")]);
  await expect(send()).rejects.toThrow("503 ServiceUnavailable");
  expect(calls).toHaveLength(5);
  for (let n = 0; n < 20; n += 1) await expect(send()).rejects.toThrow("503");
  const before = calls.length;
  await expect(send()).rejects.toThrow("503");
  expect(calls.length - before).toBe(1);
});

test("a server that answers nothing is given up by time, and the call is repeated", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const asked = Promise.withResolvers<void>();
  const { calls, send } = await client([() => asked.resolve(), done]);
  const sent = send();
  await asked.promise;
  await vi.advanceTimersByTimeAsync(9_999);
  expect(calls).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1_000);
  await expect(sent).resolves.toEqual(done.body);
});

test("a long poll has its wait on top", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const asked = Promise.withResolvers<() => void>();
  const { sqs, calls } = await client([
    (_request, response) => asked.resolve(() => response.writeHead(200).end('{"Messages":[]}')),
  ]);
  const received = sqs.call("ReceiveMessage", { QueueUrl: input.QueueUrl, WaitTimeSeconds: 20 });
  const answer = await asked.promise;
  await vi.advanceTimersByTimeAsync(29_000);
  answer();
  await expect(received).resolves.toEqual({ Messages: [] });
  expect(calls).toHaveLength(1);
});

test("an address that takes no connection is given up by time", async () => {
  vi.spyOn(Math, "random").mockReturnValue(0);
  // It accepts TCP but never answers the TLS greeting, as a wrong port does.
  const silent = createServer(() => {});
  const port = await listening(silent);
  const connections: unknown[] = [];
  silent.on("connection", (socket) => {
    connections.push(socket);
    vi.advanceTimersByTime(2_000);
  });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const { send } = await client([], { url: `https://127.0.0.1:${port}` });
  await expect(send()).rejects.toThrow(`127.0.0.1:${port} could not be connected to within 2000 ms`);
  expect(connections).toHaveLength(5);
});

test("an answer over the bound is refused", async () => {
  const { send } = await client([{ status: 200, body: { text: "x".repeat(9 * 1024 * 1024) } }]);
  await expect(send()).rejects.toThrow("answered more than 8388608 bytes");
});

test("an abort ends a call under way, and one that waits to be repeated", async () => {
  const stop = new AbortController();
  const { calls, send } = await client([() => stop.abort()]);
  await expect(send(stop.signal)).rejects.toMatchObject({ name: "AbortError" });
  expect(calls).toHaveLength(1);

  vi.spyOn(Math, "random").mockReturnValue(1);
  const later = new AbortController();
  const throttled = await client([refusal(400, "ThrottlingException")]);
  const waiting = throttled.send(later.signal);
  await expect.poll(() => throttled.calls.length).toBe(1);
  setImmediate(() => later.abort());
  await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
});

test("a closed client ends its calls without repeating them", async () => {
  const asked = Promise.withResolvers<void>();
  const { sqs, calls, send } = await client([() => asked.resolve()]);
  const sent = send();
  await asked.promise;
  sqs.destroy();
  await expect(sent).rejects.toThrow("socket hang up");
  expect(calls).toHaveLength(1);
});

test("a machine whose clock is an hour ahead signs by the service's clock after one refusal", async () => {
  const machine = Date.parse("2026-11-22T13:00:00Z");
  const skewed = refusal(403, "SignatureDoesNotMatch", { date: "Sun, 22 Nov 2026 12:00:00 GMT" });
  const { calls, send } = await client([skewed, done], { wallClockMs: () => machine });
  await send();
  await send();
  expect(calls.map(({ headers }) => headers["x-amz-date"])).toEqual([
    "20261122T130000Z",
    "20261122T120000Z",
    "20261122T120000Z",
  ]);
});

test("calls that were signed by the wrong clock at the same time are all repeated by the right one", async () => {
  const machine = Date.parse("2026-11-22T13:00:00Z");
  const both = Promise.withResolvers<void>();
  const refuse: Answer = (_request, response) =>
    void both.promise.then(() => {
      response.writeHead(403, { date: "Sun, 22 Nov 2026 12:00:00 GMT" });
      response.end(JSON.stringify({ __type: "com.amazonaws.sqs#SignatureDoesNotMatch" }));
    });
  const last: Answer = (request, response) => {
    refuse(request, response);
    both.resolve();
  };
  const { calls, send } = await client([refuse, last, done], { wallClockMs: () => machine });
  expect(await Promise.all([send(), send()])).toEqual([done.body, done.body]);
  const [ahead, right] = ["20261122T130000Z", "20261122T120000Z"];
  expect(calls.map(({ headers }) => headers["x-amz-date"])).toEqual([ahead, ahead, right, right]);
});

test("a wrong signature by a right clock is not repeated", async () => {
  const { calls, send } = await client([refusal(403, "SignatureDoesNotMatch")]);
  await expect(send()).rejects.toThrow("403 SignatureDoesNotMatch");
  expect(calls).toHaveLength(1);
});

test("a container's credentials are fetched again before they end, and at once when SQS calls them expired", async () => {
  const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
  const issue = (AccessKeyId: string, Expiration: string): Reply => ({
    status: 200,
    body: { AccessKeyId, SecretAccessKey: "secret", Token: "token", Expiration },
  });
  const issuer = await serve(
    issue("FIRST", inMs(60_000)),
    issue("SECOND", inMs(3_600_000)),
    issue("THIRD", inMs(3_600_000)),
  );
  for (const name of ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"]) vi.stubEnv(name, undefined);
  vi.stubEnv("AWS_CONTAINER_CREDENTIALS_FULL_URI", issuer.url);
  vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", "/none");
  vi.stubEnv("AWS_CONFIG_FILE", "/none");
  onTestFinished(() => void vi.unstubAllEnvs());
  const credentials = defaultProvider();
  const { calls, send } = await client([done, done, refusal(403, "ExpiredToken"), done], {
    credentials,
  });
  await send();
  await expect.poll(async () => (await credentials()).accessKeyId).toBe("SECOND");
  await send();
  await send();
  expect(calls.map(({ headers }) => /Credential=(\w+)/.exec(String(headers.authorization))?.[1])).toEqual([
    "FIRST",
    "SECOND",
    "SECOND",
    "THIRD",
  ]);
});

/** As AWS's documents describe it, from what came over the wire. */
function signatureOf({ headers, body }: Call): string {
  const [, scope = "", names = ""] =
    /Credential=AKIDEXAMPLE\/([^,]+), SignedHeaders=([^,]+)/.exec(headers.authorization ?? "") ?? [];
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
  const lines = names.split(";").map((name) => `${name}:${String(headers[name])}\n`);
  const request = ["POST", "/", "", lines.join(""), names, sha256(body)].join("\n");
  const text = ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, sha256(request)].join("\n");
  let key: string | Buffer = `AWS4${keys.secretAccessKey}`;
  for (const part of scope.split("/")) key = createHmac("sha256", key).update(part).digest();
  return createHmac("sha256", key).update(text).digest("hex");
}
