import { expect, test } from "vitest";
import { bodyBytesMax, readJson } from "../../src/api/body.ts";
import type { HttpProblem } from "../../src/api/problem.ts";
import { contractLimits } from "../../src/core/job/contract-limits.ts";

type Sent = string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
const json = { "content-type": "application/json" };
const request = (body: Sent | undefined, headers: Record<string, string> = json): Request =>
  new Request("http://127.0.0.1/jobs", {
    method: "POST",
    headers,
    ...(body === undefined ? {} : { body, duplex: "half" }),
  });
const read = (body: Sent | undefined, headers?: Record<string, string>): Promise<unknown> =>
  readJson(request(body, headers));
const announced = (bytes: number) => ({ ...json, "content-length": String(bytes) });

const refused = (body: Sent | undefined, headers?: Record<string, string>): Promise<HttpProblem> =>
  read(body, headers).then(
    (value) => expect.fail(`it was read: ${JSON.stringify(value)}`),
    (error: HttpProblem) => error,
  );

test.each([
  ["5", 5],
  ["[]", []],
  ['{"a":[null,true,"x",1.5,-0.25]}', { a: [null, true, "x", 1.5, -0.25] }],
  ["null", null],
  ["false", false],
  [" [1] ", [1]],
  ["9007199254740991", 9_007_199_254_740_991],
  ["1e300", 1e300],
  ['"\u{1F600}"', "\u{1F600}"],
])("%s is read as it is", async (body, value) => {
  expect(await read(body)).toEqual(value);
  expect(await read(body, announced(Buffer.byteLength(body)))).toEqual(value);
});

test("no body is undefined, with a content type and without", async () => {
  expect(await read(undefined)).toBeUndefined();
  expect(await read(undefined, {})).toBeUndefined();
  expect(await read("")).toBeUndefined();
});

test.each([
  "application/json",
  "Application/JSON ; charset=UTF-8",
  'application/json; charset="utf-8"',
  "application/json; charset=utf8",
  "application/json; version=1",
])("the content type %s is taken", async (type) => {
  expect(await read("5", { "content-type": type })).toBe(5);
});

test.each([
  [{ "content-type": "text/plain" }, "content-type", "must be application/json"],
  [{ "content-type": "application/json; charset=latin1" }, "content-type", "must be in UTF-8"],
  [{ "content-type": "application/json; a=b; charset=utf-16" }, "content-type", "must be in UTF-8"],
  [{ ...json, "content-encoding": "gzip" }, "content-encoding", "must be left out"],
])("the headers %j are refused", async (headers, name, message) => {
  expect(await refused("5", headers)).toMatchObject({
    status: 415,
    code: "not-json",
    message: `header ${name}: ${message}`,
    issues: [{ path: `header ${name}`, message }],
  });
});

test("a body without a type is refused, and the encoding `identity` is none", async () => {
  const typeless = request(new Uint8Array([53]), {});
  await expect(readJson(typeless)).rejects.toMatchObject({
    code: "not-json",
    issues: [{ path: "header content-type", message: "must be application/json where there is a body" }],
  });
  expect(await read("5", { ...json, "content-encoding": "identity" })).toBe(5);
});

const textOf = (bytes: number): string => `"${"a".repeat(bytes - 2)}"`;
const streamed = (text: string): ReadableStream<Uint8Array> => new Blob([text]).stream();

test.each([
  ["announced", (text: string) => read(text, announced(text.length))],
  ["streamed", (text: string) => read(streamed(text))],
])("a body that is %s may have as many bytes as are documented, and no more", async (_how, reading) => {
  expect(await reading(textOf(bodyBytesMax))).toHaveLength(bodyBytesMax - 2);
  await expect(reading(textOf(bodyBytesMax + 1))).rejects.toMatchObject({
    status: 413,
    code: "body-too-large",
    message: expect.stringContaining(`larger than ${bodyBytesMax} bytes`) as string,
  });
});

test("a body that is announced as too large is refused before it is read", async () => {
  expect(await refused("5", announced(bodyBytesMax + 1))).toMatchObject({ code: "body-too-large" });
});

test("a body that breaks off, is not UTF-8 or is not JSON is refused", async () => {
  const broken = new ReadableStream<Uint8Array>({ pull: (to) => to.error(new Error("reset")) });
  expect(await refused(broken)).toMatchObject({ status: 400, code: "body-cut-off" });
  expect(await refused(new Uint8Array([34, 255, 34]))).toMatchObject({ code: "bad-encoding" });
  for (const body of ["{", "]", "nil", '{"a"}', '"a', '"\\']) {
    expect(await refused(body)).toMatchObject({ status: 400, code: "bad-json" });
  }
});

const depthMax = contractLimits.payloadDepthMax + 1;
const nested = (levels: number, [open, close]: readonly [string, string] = ["[", "]"]): string =>
  open.repeat(levels) + close.repeat(levels);
const objects = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

test.each<[string, (levels: number) => string]>([
  ["arrays", (levels) => nested(levels)],
  ["objects", objects],
  ["arrays after siblings", (levels) => `[[],[],[],{},{},${nested(levels - 1)}]`],
  ["arrays after an empty text", (levels) => `["",${nested(levels - 1)}]`],
  ["arrays after a text of one character", (levels) => `["a",${nested(levels - 1)}]`],
  ["arrays after a text of two characters", (levels) => `["ab",${nested(levels - 1)}]`],
  ["arrays after a quote in a text", (levels) => `["a\\"",${nested(levels - 1)}]`],
  ["arrays after a line break in a text", (levels) => `["\\n",${nested(levels - 1)}]`],
  ["arrays after a backslash in a text", (levels) => `["\\\\",${nested(levels - 1)}]`],
  ["arrays after brackets in texts", (levels) => `["${"[".repeat(99)}","\\"${"{".repeat(99)}",${nested(levels - 1)}]`],
])("%s may be nested as deep as is documented, and no deeper", async (_what, body) => {
  expect(await read(body(depthMax))).toEqual(JSON.parse(body(depthMax)));
  expect(await refused(body(depthMax + 1))).toMatchObject({
    status: 400,
    code: "too-deep",
    message: `the body is nested deeper than ${contractLimits.payloadDepthMax} levels: flatten it`,
  });
});

test("a body may have as many keys as are documented, and no more; a colon in a text is none", async () => {
  const keysMax = contractLimits.payloadKeysMax + 8;
  const body = (keys: number): string => `["${":".repeat(20)}"${',{"a":1}'.repeat(keys)}]`;
  expect(await read(body(keysMax))).toHaveLength(keysMax + 1);
  expect(await refused(body(keysMax + 1))).toMatchObject({
    status: 400,
    code: "too-many-keys",
    message: `the body has more than ${contractLimits.payloadKeysMax} keys: pass a reference instead`,
  });
});

const large = "is a number too large to be stored: send it as a string";
const inexact = "is an integer beyond 2^53, which JSON does not carry exactly: send it as a string";
const nul = "holds a NUL character: remove it";
const half = "holds half a surrogate pair, which is not text: remove it";
const long = "n".repeat(200);

test.each([
  ["1e999", "(root)", large],
  ['{"a":[1,{"b":-1e999}]}', "a[1].b", large],
  ["9007199254740993", "(root)", inexact],
  ['[{"a":9007199254740992}]', "[0].a", inexact],
  [String.raw`{"a":"x\u0000"}`, "a", nul],
  [String.raw`{"a":{"b\u0000":1}}`, "a.b\u{FFFD}", nul],
  [String.raw`["\ud800"]`, "[0]", half],
  [String.raw`{"\udc00":1}`, "\u{FFFD}", half],
  [`{"${long}":1e999}`, long, large],
  [`{"${long}n":1e999}`, `${long}...`, large],
])("%s cannot be stored", async (body, path, message) => {
  expect(await refused(body)).toMatchObject({
    status: 400,
    code: "not-storable",
    message: `${path} ${message}`,
    issues: [{ path, message }],
  });
});
