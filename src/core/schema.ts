import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { PayloadCheck } from "./definition.ts";

/** Validates with any Standard Schema (zod, valibot, arktype ...). No schema means no payload. */
export async function checkPayload(schema: StandardSchemaV1 | undefined, payload: unknown): Promise<PayloadCheck> {
  const checked = await checkWith(schema, payload);
  // A void payload is stored as JSON null and must pass the same schema when it comes back.
  if (checked.ok || payload !== null) return checked;
  const asVoid = await checkWith(schema, undefined);
  return asVoid.ok ? asVoid : checked;
}

/** @returns null when the schema answers asynchronously: then only running tells. */
export function checkPayloadNow(schema: StandardSchemaV1 | undefined, payload: unknown): PayloadCheck | null {
  const checked = checkWith(schema, payload);
  return checked instanceof Promise ? null : checked;
}

function checkWith(schema: StandardSchemaV1 | undefined, payload: unknown): PayloadCheck | Promise<PayloadCheck> {
  if (schema === undefined) return payload === undefined ? { ok: true, value: undefined } : notExpected;
  const result = schema["~standard"].validate(payload);
  return result instanceof Promise ? result.then(toCheck) : toCheck(result);
}

const notExpected: PayloadCheck = {
  ok: false,
  issues: [{ path: "", message: "this job takes no payload: pass none, or give the definition a payload schema" }],
};

function toCheck(result: StandardSchemaV1.Result<unknown>): PayloadCheck {
  if (result.issues === undefined) return { ok: true, value: result.value };
  return {
    ok: false,
    issues: result.issues.map(({ path, message }) => ({ path: (path ?? []).map(segment).join("."), message })),
  };
}

const segment = (part: PropertyKey | StandardSchemaV1.PathSegment): string =>
  String(typeof part === "object" ? part.key : part);
