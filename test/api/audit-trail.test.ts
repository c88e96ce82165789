import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { createAuditTrail } from "../../src/api/audit-trail.ts";
import type { AuditRow } from "../../src/insight/audit.ts";
import type { Log } from "../../src/machine/ports.ts";

const key = new Uint8Array(32).fill(7);
const change = { caller: "ada", action: "POST /jobs", target: "/jobs", status: 201, trace: "t" };

/** A trail whose rows and errors a test reads; with `failure` no row can be written. */
function trail(failure?: Error) {
  const rows: AuditRow[] = [];
  const errors: unknown[] = [];
  const silent = (): void => undefined;
  const error = (message: string, fields?: object): void => void errors.push({ message, ...fields });
  const log: Log = { debug: silent, info: silent, warn: silent, error, child: () => log };
  const write = (some: readonly AuditRow[]): Promise<void> =>
    failure === undefined ? Promise.resolve(void rows.push(...some)) : Promise.reject(failure);
  return { rows, errors, audit: createAuditTrail({ write, key: () => Promise.resolve(key), log }) };
}

async function noted(body: unknown): Promise<string | null | undefined> {
  const { rows, errors, audit } = trail();
  await audit.note({ ...change, body });
  expect(errors).toEqual([]);
  return rows[0]?.detail;
}

const hash = (text: string) => ({ hmac: createHmac("sha256", key).update(text).digest("hex") });

test.each<[unknown, unknown]>([
  [undefined, null],
  [null, null],
  ["text", "text"],
  [5, 5],
  [
    [1, { payload: 2 }],
    [1, { payload: 2 }],
  ],
  [{}, {}],
  [
    { kind: "a", delay: "1h", key: null },
    { kind: "a", delay: "1h", key: null },
  ],
  [
    { kind: "a", payload: { card: "1234" } },
    { kind: "a", payload: hash('{"card":"1234"}') },
  ],
  [{ payload: undefined }, { payload: hash("null") }],
  [{ payload: null }, { payload: hash("null") }],
  [{ filter: { kind: "a", payload: { a: 1 } } }, { filter: { kind: "a", payload: hash('{"a":1}') } }],
  [{ set: { payload: [1], pace: "1s" } }, { set: { payload: hash("[1]"), pace: "1s" } }],
])("the body %j is kept as %j", async (body, detail) => {
  expect(JSON.parse((await noted(body)) ?? "")).toEqual(detail);
});

test("a row keeps what was asked, and the first 500 characters of its path", async () => {
  const { rows, audit } = trail();
  const target = `/${"t".repeat(499)}`;
  await audit.note({ ...change, target, body: { a: 1 } });
  await audit.note({ ...change, target: `${target}t`, body: null });
  expect(rows).toEqual([
    { ...change, target, detail: '{"a":1}' },
    { ...change, target, detail: "null" },
  ]);
});

test("a body is kept whole up to 2000 characters of JSON, and else its beginning", async () => {
  const text = "a".repeat(1_998);
  expect(await noted(text)).toBe(`"${text}"`);
  expect(JSON.parse((await noted(`${text}a`)) ?? "")).toEqual({ shortened: `"${text}a` });
});

test("a row that cannot be written is logged without the body", async () => {
  const failure = new Error("away");
  const { errors, audit } = trail(failure);
  await audit.note({ ...change, body: { card: "1234" } });
  expect(errors).toEqual([{ message: "a change could not be noted", ...change, error: failure }]);
});
