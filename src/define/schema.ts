import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { PayloadCheck } from "./definition.ts";

/**
 * Validates with any Standard Schema (zod, valibot, arktype ...). No schema means no payload.
 * A void payload is stored as JSON null, so null passes where undefined would.
 */
export function checkPayload(
  schema: StandardSchemaV1 | undefined,
  payload: unknown,
): PayloadCheck | Promise<PayloadCheck> {
  return after(checkWith(schema, payload), (checked) => {
    if (checked.ok || payload !== null) return checked;
    return after(checkWith(schema, undefined), (asVoid) => (asVoid.ok ? asVoid : checked));
  });
}

/** The same, synchronously. @returns null when the schema is asynchronous: then it is checked only at run time. */
export function checkPayloadNow(schema: StandardSchemaV1 | undefined, payload: unknown): PayloadCheck | null {
  const checked = checkPayload(schema, payload);
  return checked instanceof Promise ? null : checked;
}

/** Without a promise where there is none: a check is made for every job. */
function after(
  checked: PayloadCheck | Promise<PayloadCheck>,
  next: (checked: PayloadCheck) => PayloadCheck | Promise<PayloadCheck>,
): PayloadCheck | Promise<PayloadCheck> {
  return checked instanceof Promise ? checked.then(next) : next(checked);
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
