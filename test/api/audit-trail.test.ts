import { expect, test } from "vitest";
import { createAuditTrail } from "../../src/api/audit-trail.ts";
import type { AuditRow } from "../../src/core/ports/audit.ts";
import { type LogLine, recordingLog } from "../../src/testing/recording.ts";

const change = {
  caller: "ada",
  action: "POST /jobs",
  target: "/jobs",
  status: 201,
  body: { kind: "pay", payload: { card: "4111-secret" } },
  trace: "t",
};

test("a change whose row cannot be written is logged without what its payload was", async () => {
  const lines: LogLine[] = [];
  const away = new Error("away");
  const trail = createAuditTrail({ write: () => Promise.reject(away), log: recordingLog(lines) });
  await trail.note(change);
  const { body: _, ...fields } = change;
  expect(lines).toEqual([
    { level: "error", message: "a change could not be noted", fields: { ...fields, error: away } },
  ]);
  expect(JSON.stringify(lines)).not.toContain("secret");
});

test("a row has the hash of its payload, the beginning of a long request, and what was refused unseen has none", async () => {
  const rows: AuditRow[] = [];
  const trail = createAuditTrail({ write: async (some) => void rows.push(...some), log: recordingLog([]) });
  await trail.note({ ...change, target: `/jobs/${"9".repeat(600)}` });
  await trail.note({ ...change, body: { kind: "x".repeat(3_000) } });
  await trail.note(change, { unless: true });
  expect(rows).toHaveLength(2);
  expect(rows[0]?.target).toHaveLength(500);
  expect(JSON.parse(rows[0]?.detail ?? "")).toEqual({
    kind: "pay",
    payload: { sha256: expect.stringMatching(/^[\da-f]{64}$/) },
  });
  expect(JSON.parse(rows[1]?.detail ?? "")).toEqual({ shortened: expect.stringMatching(/^\{"kind":"x{1991}$/) });
});
