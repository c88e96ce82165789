import { expect, test } from "vitest";
import { checkConditions, etagOf, readIdempotencyKey, wantedVersions } from "../../src/api/conditional.ts";
import { contractLimits } from "../../src/core/job/contract-limits.ts";

const most = "k".repeat(contractLimits.keyCharactersMax);

test.each([
  [undefined, undefined],
  ["a", "a"],
  ['"a"', "a"],
  ['"a', '"a'],
  ['a"', 'a"'],
  ['""a""', '"a"'],
  [most, most],
  [`"${most}"`, most],
])("the header Idempotency-Key %j is the key %j", (header, key) => {
  expect(readIdempotencyKey({ takesKey: true }, header)).toBe(key);
});

test.each(["", '""', `${most}k`, `"${most}k"`])("the header Idempotency-Key %j is refused", (header) => {
  const message = `must have 1 to ${contractLimits.keyCharactersMax} characters`;
  expect(() => readIdempotencyKey({ takesKey: true }, header)).toThrow(
    expect.objectContaining({ code: "invalid-request", issues: [{ path: "header idempotency-key", message }] }),
  );
});

test("a key in the header that is not ASCII is refused: HTTP would make another text of it", () => {
  const latin1 = Buffer.from("ключ").toString("latin1");
  expect(() => readIdempotencyKey({ takesKey: true }, latin1)).toThrow(
    'header idempotency-key: must be ASCII: send this key as "key" of the body',
  );
});

test("a key is refused where an operation takes none, and no key is not", () => {
  expect(readIdempotencyKey({}, undefined)).toBeUndefined();
  expect(() => readIdempotencyKey({}, "a")).toThrow(
    "header idempotency-key: is not taken here: only what makes one job or run has a key; see the document of the API",
  );
});

test("a version is refused where nothing has versions, and no version is not", () => {
  const request = (headers: Record<string, string>) => new Request("http://127.0.0.1/", { headers });
  expect(() => checkConditions({ hasVersion: true }, request({ "if-match": '"3"' }))).not.toThrow();
  expect(() => checkConditions({}, request({}))).not.toThrow();
  expect(() => checkConditions({}, request({ "if-match": '"3"' }))).toThrow(
    "header if-match: is not taken here: only schedules have versions",
  );
  expect(() => checkConditions({ hasVersion: true }, request({ "if-none-match": "*" }))).toThrow(
    "header if-none-match: is not taken here",
  );
});

const wanted = (header?: string) =>
  wantedVersions(new Request("http://127.0.0.1/", header === undefined ? {} : { headers: { "if-match": header } }));

test.each([
  [undefined, {}],
  ["*", {}],
  [" * ", {}],
  [etagOf(3), { ifVersions: [3] }],
  ['"3" , "14"', { ifVersions: [3, 14] }],
  ['W/"3", "4"', { ifVersions: [4] }],
  ['"other"', { ifVersions: [] }],
])("the header If-Match %j asks for %j", (header, versions) => {
  expect(wanted(header)).toEqual(versions);
});

test.each(["3", '"3', '"3";"4"', '"3" "4"', "", "**"])("the header If-Match %j is refused", (header) => {
  expect(() => wanted(header)).toThrow(
    'header if-match: must be the ETag of the schedule with its quotes, like "3", or *',
  );
});
