import { reasons } from "../job/reasons.ts";
import type { JobDefinition } from "./definition.ts";
import type { Instant, Json, NewJob, SlotGroup } from "../job/job.ts";
import { contractLimits } from "../job/contract-limits.ts";

export interface JobInput {
  /** What the caller passed, as `checkedJson` gave it back. The schema's defaults are applied when the handler runs. */
  readonly payload: Json;
  readonly key: string | null;
  readonly dueAt: Instant | null;
  readonly delayMs: number;
  readonly expiresAt?: Instant | null;
  readonly trace: string;
  readonly slotKeys: readonly string[];
}

/** The row of a definition and an input. A job's lease is its lock's ttl when it has a lock. */
export function newJob(definition: JobDefinition, stage: string, input: JobInput): NewJob {
  return {
    kind: definition.id,
    key: checkedKey(definition.id, input.key),
    payload: input.payload,
    canonicalInput: canonical(input.payload),
    lane: definition.lane,
    dueAt: input.dueAt,
    delayMs: input.delayMs,
    expiresAt: input.expiresAt ?? null,
    leaseMs: leaseMsOf(definition, stage),
    maxAttempts: definition.retry.maxAttempts,
    retentionMs: definition.retentionMs,
    slotKeys: input.slotKeys,
    trace: input.trace,
  };
}

/** The slot groups every job of this kind needs: its cap and its lock. */
export function slotGroupsOf(definition: JobDefinition): readonly SlotGroup[] {
  const groups: SlotGroup[] = [];
  if (definition.concurrency !== null) {
    groups.push({ key: `cap:${definition.id}`, size: definition.concurrency, onRefusal: "hold", reason: reasons.slot });
  }
  if (definition.lock !== null) {
    groups.push({ key: `lock:${definition.lock.name}`, size: 1, onRefusal: "skip", reason: reasons.lockHeld });
  }
  return groups;
}

export const slotKeysOf = (definition: JobDefinition): readonly string[] =>
  slotGroupsOf(definition).map((group) => group.key);

export function leaseMsOf(definition: JobDefinition, stage: string): number {
  const ttl = definition.lock?.ttlMs;
  return ttl?.[stage] ?? ttl?.["default"] ?? definition.leaseMs;
}

/**
 * JSON with sorted keys, so that equal inputs have equal text. `undefined` (a void payload) is `null`.
 * @throws RangeError beyond the depth or key limits, TypeError for what JSON cannot say.
 */
export function canonical(value: unknown): string {
  const budget = { keys: contractLimits.payloadKeysMax };
  return write(value === undefined ? null : value, 0, budget);
}

function write(value: unknown, depth: number, budget: { keys: number }): string {
  if (depth > contractLimits.payloadDepthMax) {
    throw new RangeError(
      `payload is nested deeper than ${contractLimits.payloadDepthMax} levels: flatten it or pass a reference`,
    );
  }
  if (value === null || typeof value === "boolean") return JSON.stringify(value);
  if (typeof value === "string") return writeText(value);
  if (typeof value === "number") return writeNumber(value);
  if (Array.isArray(value)) return writeList(value, depth, budget);
  if (typeof value === "object") return writeObject(value, depth, budget);
  throw new TypeError(
    `payload holds a ${typeof value}, which JSON cannot say: pass strings, numbers, booleans, arrays or objects`,
  );
}

/** Postgres stores neither NUL nor half a surrogate pair in jsonb. */
function writeText(value: string): string {
  if (value.includes("\u0000"))
    throw new TypeError("payload holds a NUL character, which Postgres cannot store: remove it");
  if (!value.isWellFormed()) throw new TypeError("payload holds half a surrogate pair, which is not text: remove it");
  return JSON.stringify(value);
}

function writeNumber(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError(`payload holds the number ${value}, which JSON cannot say`);
  return JSON.stringify(value);
}

/** Not `map`, which leaves the holes of an array out. */
const writeList = (list: readonly unknown[], depth: number, budget: { keys: number }): string =>
  `[${Array.from(list, (item) => write(item ?? null, depth + 1, budget)).join(",")}]`;

function writeObject(value: object, depth: number, budget: { keys: number }): string {
  const plain = "toJSON" in value && typeof value.toJSON === "function" ? (value.toJSON() as unknown) : value;
  if (typeof plain !== "object" || plain === null) return write(plain, depth, budget);
  if (Array.isArray(plain)) return writeList(plain, depth, budget);
  const entries = Object.entries(plain).filter(([, item]) => item !== undefined);
  budget.keys -= entries.length;
  if (budget.keys < 0)
    throw new RangeError(`payload has more than ${contractLimits.payloadKeysMax} keys: pass a reference instead`);
  entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${entries.map(([name, item]) => `${writeText(name)}:${write(item, depth + 1, budget)}`).join(",")}}`;
}

function checkedKey(kind: string, key: string | null): string | null {
  if (key === null) return null;
  if (key.length === 0 || key.length > contractLimits.keyCharactersMax) {
    throw new RangeError(
      `key of "${kind}" must be 1 to ${contractLimits.keyCharactersMax} characters; it has ${key.length}: choose another`,
    );
  }
  // Two keys that differ only in half a pair would be one in the database.
  if (key.includes("\u0000") || !key.isWellFormed()) {
    throw new TypeError(`key of "${kind}" holds a NUL character or half a surrogate pair: remove it`);
  }
  return key;
}

/** The payload as JSON, within the byte limit. */
export function checkedJson(kind: string, payload: unknown, bytesMax: number = contractLimits.payloadBytesMax): Json {
  const text = canonical(payload);
  const bytes = utf8Bytes(text);
  if (bytes > bytesMax) {
    throw new RangeError(
      `payload of "${kind}" is ${bytes} bytes; the limit is ${bytesMax}: store it elsewhere and pass a reference`,
    );
  }
  return JSON.parse(text) as Json;
}

/** Length in UTF-8 without allocating the bytes. */
function utf8Bytes(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  }
  return bytes;
}
