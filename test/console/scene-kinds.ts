/** Kinds of the fake API, with the JSON Schema of each payload. */
import type { KindReply } from "../../src/api/shape/kind.ts";

const usual = {
  app: "reports",
  lane: "default",
  startable: true,
  graph: null,
  makesRun: false,
  timeoutMs: 60_000,
  maxAttempts: 4,
  concurrency: null,
};

export const kinds: readonly KindReply[] = [
  {
    ...usual,
    id: "send-open-mail",
    payload: {
      type: "object",
      properties: {
        reportId: { type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: "Which report" },
        format: { type: "string", enum: ["csv", "pdf"] },
        to: { type: "array", items: { type: "string" } },
      },
      required: ["reportId"],
    },
  },
  { ...usual, id: "export-report", concurrency: 5, payload: {} },
  { ...usual, id: "clean-up", payload: null },
  { ...usual, id: "settle-part", startable: false, graph: "settlement", payload: null },
];
