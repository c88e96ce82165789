import { jobGates } from "../admission/gates.ts";
import { isByKey } from "../admission/slots.ts";
import type { JobDefinition, Limited } from "./definition.ts";
import { InvalidPayload } from "./errors.ts";
import type { Instant, Json, NewJob, SlotGroup } from "../machine/job.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { isSealed } from "../machine/seal.ts";

export interface JobInput extends Pick<
  NewJob,
  "key" | "dueAt" | "delayMs" | "trace" | "slotKeys" | "turn" | "debounce" | "batch"
> {
  /** What the caller passed, as `checkedJson` gave it back; sealed where the definition says so. The schema's defaults are applied when the handler runs. */
  readonly payload: Json;
  readonly expiresAt?: Instant | null;
}

/** The row of a definition and an input. @throws Error for a payload that was to be sealed, and is not. */
export function newJob(definition: JobDefinition, input: JobInput): NewJob {
  assertSealed(definition, "payload", input.payload);
  return {
    kind: definition.id,
    key: checkedKey(definition.id, input.key),
    payload: input.payload,
    lane: definition.lane,
    dueAt: input.dueAt,
    delayMs: input.debounce?.forMs ?? input.delayMs + (input.batch?.waitMs ?? 0),
    expiresAt: input.expiresAt ?? null,
    leaseMs: definition.leaseMs,
    maxAttempts: definition.retry.maxAttempts,
    retentionMs: definition.retentionMs,
    slotKeys: input.slotKeys,
    trace: input.trace,
    turn: input.turn,
    debounce: input.debounce,
    batch: input.batch,
  };
}

/** Nothing that is to be sealed reaches a store by a way that forgot it. */
export function assertSealed({ id, seal }: Pick<JobDefinition, "id" | "seal">, what: Stored, value: Json): void {
  if (seal === null || value === null || isSealed(value)) return;
  throw new Error(`the ${what} of "${id}" is not sealed: this is a defect of Belfry`);
}

/** The slot groups every job of this kind needs: its caps, its rate, its lock and those of its limits. */
export const slotGroupsOf = (definition: JobDefinition): readonly SlotGroup[] =>
  jobGates.flatMap((gate) => [definition, ...definition.limits].flatMap((of) => gate.groupOf(of) ?? []));

export const slotGroupsOfLimit = (limit: Limited): readonly SlotGroup[] =>
  jobGates.flatMap((gate) => gate.groupOf(limit) ?? []);

/** The slot keys of a kind that no payload decides. */
export const slotKeysOf = (definition: JobDefinition): readonly string[] =>
  slotGroupsOf(definition).flatMap((group) => (isByKey(group) ? [] : group.key));

/** Whether a payload decides some of its slot keys. */
export const hasKeyedSlots = (definition: JobDefinition): boolean => slotGroupsOf(definition).some(isByKey);

/**
 * The slot keys of one job. `payload`: as the handler gets it.
 * @throws InvalidPayload when the `key` of its cap, rate or limit throws for it, or answers no key.
 */
export const slotKeysFor = (definition: JobDefinition, payload: unknown): readonly string[] =>
  jobGates.flatMap((gate) =>
    [definition, ...definition.limits].flatMap((of) => {
      const group = gate.groupOf(of);
      if (group === null) return [];
      if (!isByKey(group) || !("keyOf" in gate)) return group.key;
      const path = of === definition ? `${gate.field}.key` : `limits ${of.id.slice(1)}.key`;
      return group.key + checkedKeyOf(definition.id, path, () => gate.keyOf(of, payload));
    }),
  );

/** What a function of the payload answers. `path`: its field. */
export function checkedKeyOf(kind: string, path: string, answer: () => unknown): string {
  const refused = (message: string) => new InvalidPayload(kind, [{ path, message }]);
  let key: unknown;
  try {
    key = answer();
  } catch (error) {
    throw refused(`threw for it: ${error instanceof Error ? error.message : String(error)}`);
  }
  const { slotKeyCharactersMax: most } = contractLimits;
  if (typeof key === "string" && key.length > 0 && key.length <= most && !key.includes("\0") && key.isWellFormed())
    return key;
  const shown =
    typeof key === "string" ? `${JSON.stringify(key.slice(0, 40))} (${key.length} characters)` : String(key);
  throw refused(
    `answered ${shown} for it; a key is a text of 1 to ${most} characters without NUL or half a surrogate pair`,
  );
}

/**
 * JSON with sorted keys, so that equal inputs have equal text. `undefined` (a void payload) is `null`.
 * @throws RangeError beyond the depth or key limits, TypeError for what JSON cannot say, with the path.
 */
export function canonical(value: unknown, what: Stored = "payload"): string {
  return write(value === undefined ? null : value, { what, keysLeft: contractLimits.payloadKeysMax, path: [] });
}

/** What an error calls it. */
type Stored = "payload" | "result";

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

function checkedKey(kind: string, key: string | null): string | null {
  if (key === null) return null;
  if (key.length === 0 || key.length > contractLimits.keyCharactersMax) {
    throw new RangeError(
      `key of "${kind}" must be 1 to ${contractLimits.keyCharactersMax} characters; it has ${key.length}: choose another`,
    );
  }
  // Two keys that differ only in half a pair would be one in the database.
  if (key.includes("\u0000") || !key.isWellFormed()) {
    throw new RangeError(`key of "${kind}" holds a NUL character or half a surrogate pair: remove it`);
  }
  return key;
}

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
