import type { StandardSchemaV1 } from "@standard-schema/spec";
import { contractLimits } from "../machine/contract-limits.ts";
import type { Json } from "../machine/job.ts";
import type { PayloadCheck } from "./definition.ts";
import { InvalidPayload } from "./errors.ts";

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

/**
 * JSON with sorted keys, so that equal inputs have equal text. `undefined` (a void payload) is `null`.
 * @throws RangeError beyond the depth or key limits, TypeError for what JSON cannot say, with the path.
 */
export function canonical(value: unknown, what: Stored = "payload"): string {
  return write(value === undefined ? null : value, { what, keysLeft: contractLimits.payloadKeysMax, path: [] });
}

/** What an error calls it. */
export type Stored = "payload" | "result";

/** A value inside that cannot be stored. `path`: as a schema's issues have it. */
class Unstorable extends TypeError {
  readonly path: string;
  readonly rule: string;
  constructor({ what, path }: Writing, rule: string) {
    super(`${place(what, path)} ${rule}`);
    this.path = place("", path).replace(/^\./, "");
    this.rule = rule;
  }
}

/** The path so far, and how many keys are still allowed. */
interface Writing {
  readonly what: Stored;
  keysLeft: number;
  readonly path: (string | number)[];
}

function write(value: unknown, at: Writing): string {
  if (at.path.length > contractLimits.payloadDepthMax) {
    throw new RangeError(
      `${at.what} is nested deeper than ${contractLimits.payloadDepthMax} levels: flatten it or pass a reference`,
    );
  }
  if (value === null || typeof value === "boolean") return JSON.stringify(value);
  if (typeof value === "string") return writeText(value, at);
  if (typeof value === "number") return writeNumber(value, at);
  if (typeof value === "object") return writeObject(value, at);
  throw new Unstorable(
    at,
    `holds a ${typeof value}, which JSON cannot say: pass strings, numbers, booleans, arrays or objects`,
  );
}

/** Postgres stores neither NUL nor half a surrogate pair in jsonb. */
function writeText(value: string, at: Writing): string {
  if (value.includes("\u0000"))
    throw new Unstorable(at, "holds a NUL character, which Postgres cannot store: remove it");
  if (!value.isWellFormed()) throw new Unstorable(at, "holds half a surrogate pair, which is not text: remove it");
  return JSON.stringify(value);
}

/** Below this JSON writes an integer with all its digits, even those that a double has rounded. */
const exponentFrom = 1e21;

/** An integer that a double may have rounded to a neighbour. */
export const isInexact = (value: number): boolean =>
  Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < exponentFrom;

function writeNumber(value: number, at: Writing): string {
  if (!Number.isFinite(value)) throw new Unstorable(at, `holds the number ${value}, which JSON cannot say`);
  if (isInexact(value)) {
    throw new Unstorable(
      at,
      `holds the integer ${BigInt(value)}, beyond 2^53: its last digits are not exact; pass it as a string`,
    );
  }
  return JSON.stringify(value);
}

/** Not `map`, which leaves the holes of an array out. */
const writeList = (list: readonly unknown[], at: Writing): string =>
  `[${Array.from(list, (item, index) => writeAt(index, item ?? null, at)).join(",")}]`;

function writeObject(value: object, at: Writing): string {
  const { toJSON } = value as { readonly toJSON?: unknown };
  const plain: unknown = typeof toJSON === "function" ? Reflect.apply(toJSON, value, []) : value;
  if (typeof plain !== "object" || plain === null) return write(plain, at);
  if (Array.isArray(plain)) return writeList(plain, at);
  const fields = new Map(Object.entries(plain).filter(([, item]) => item !== undefined));
  at.keysLeft -= fields.size;
  if (at.keysLeft < 0)
    throw new RangeError(`${at.what} has more than ${contractLimits.payloadKeysMax} keys: pass a reference instead`);
  const names = [...fields.keys()].toSorted();
  return `{${names.map((name) => `${writeText(name, at)}:${writeAt(name, fields.get(name), at)}`).join(",")}}`;
}

function writeAt(name: string | number, value: unknown, at: Writing): string {
  at.path.push(name);
  const text = write(value, at);
  at.path.pop();
  return text;
}

const pathCharactersMax = 200;

const place = (what: string, path: Writing["path"]): string =>
  path
    .reduce<string>((text, name) => (typeof name === "number" ? `${text}[${name}]` : `${text}.${name}`), what)
    .toWellFormed()
    .slice(0, pathCharactersMax);

/** The payload as JSON. @throws InvalidPayload for what cannot be stored, RangeError beyond the limits of bytes, depth and keys */
export function checkedJson(kind: string, payload: unknown): Json {
  try {
    return JSON.parse(
      checkedText(kind, payload, { what: "payload", bytesMax: contractLimits.payloadBytesMax }),
    ) as Json;
  } catch (error) {
    if (error instanceof Unstorable) throw new InvalidPayload(kind, [{ path: error.path, message: error.rule }]);
    throw error;
  }
}

/** What a handler returned as JSON, within the byte limit of results. */
export const checkedResult = (kind: string, value: unknown): Json =>
  JSON.parse(checkedText(kind, value, { what: "result", bytesMax: contractLimits.resultBytesMax })) as Json;

function checkedText(kind: string, value: unknown, { what, bytesMax }: { what: Stored; bytesMax: number }): string {
  const text = canonical(value, what);
  const bytes = Buffer.byteLength(text);
  if (bytes <= bytesMax) return text;
  throw new RangeError(
    `${what} of "${kind}" is ${bytes} bytes; the limit is ${bytesMax}: store it elsewhere and ${instead[what]} a reference`,
  );
}

const instead = { payload: "pass", result: "return" } as const;
