import { expect, test } from "vitest";
import { z } from "zod";
import { redactedLine } from "../../src/api/redacted.ts";
import { sensitiveKinds } from "../../src/api/sensitive.ts";
import { defineApp } from "../../src/define/define-app.ts";
import { registry } from "../../src/define/definition.ts";
import { defineJob } from "../../src/define/define-job.ts";
import type { ArchivedRow } from "../../src/insight/archive.ts";

const payload = z.object({ card: z.string().meta({ sensitive: true }), cents: z.number() });
// Made in each test: what runs while a file is loaded is no part of a test, and `mutate` leaves it out.
function kinds() {
  const app = defineApp({ name: "shop", jobs: [defineJob({ id: "pay", payload, run: () => {} })] });
  return sensitiveKinds(registry([app]).jobs.values()).with([{ kind: "mail", marks: {} }]);
}
const secret = "4111-1111";
const row = (table: ArchivedRow["table"], kind: string | null, of: object): string =>
  redactedLine({ table, kind, number: "1", at: 0, line: JSON.stringify(of) }, kinds());

test("a job of a sensitive kind is archived without what is marked, its hash, and texts that may quote it", () => {
  const text = row("job", "pay", {
    id: "1",
    kind: "pay",
    payload: { card: secret, cents: 5 },
    result: secret,
    error_message: secret,
    error_code: "Declined",
    history: [{ to_state: "FAILED", error_code: "Declined", error_message: secret, detail: { stack: secret } }],
  });
  expect(text).not.toContain(secret);
  expect(JSON.parse(text)).toMatchObject({
    id: "1",
    payload: { card: "[hidden]", cents: 5 },
    error_code: "Declined",
    history: [{ to_state: "FAILED", error_code: "Declined", error_message: "[hidden]" }],
  });
});

test.each([
  ["a move of a sensitive kind", "history", "pay"],
  ["a move whose kind is not known any more", "history", null],
  ["a run of a sensitive kind", "run", "pay"],
] as const)("%s keeps no text that may quote it", (_, table, kind) => {
  const text = row(table, kind, {
    error_message: secret,
    detail: { log: [secret] },
    error: secret,
    cursor: { at: secret },
  });
  expect(text).not.toContain(secret);
});

test("of a kind that no one knows any more nothing is left that may have been marked", () => {
  const text = row("job", "gone", { payload: { card: secret }, result: secret, history: [{ error_message: secret }] });
  expect(text).not.toContain(secret);
});

test("what is of another kind, or of a stage without such kinds, is archived as it is", () => {
  expect(row("job", "mail", { payload: { card: secret } })).toContain(secret);
  const line = `{"error_message":"${secret}"}`;
  expect(redactedLine({ table: "history", kind: null, number: "1", at: 0, line }, sensitiveKinds([]))).toBe(line);
});

test("tables that quote no payload are left as they are, an audit is redacted by what it holds, and null stays null", () => {
  for (const table of ["occurrence", "event"] as const)
    expect(row(table, "pay", { error_message: "late" })).toBe('{"error_message":"late"}');
  expect(row("audit", null, { kind: "pay", payload: { hmac: "f00" }, detail: { lane: "a" } })).toBe(
    '{"kind":"pay","payload":"[hidden]","detail":{"lane":"a"}}',
  );
  expect(JSON.parse(row("job", "pay", { result: null, error_code: "X", payload: null }))).toEqual({
    kind: "pay",
    result: null,
    error_code: "X",
    payload: null,
  });
  expect(JSON.parse(row("job", "mail", { history: [{ error_message: "away" }] }))).toEqual({
    history: [{ error_message: "away" }],
  });
});
