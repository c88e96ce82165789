import { jobGates } from "../admission/gates.ts";
import { isByKey } from "../admission/slots.ts";
import { durationMs } from "../calendar/duration.ts";
import type { EnqueueItem } from "../machine/client.ts";
import type { EnqueueOptions } from "./context.ts";
import type { JobDefinition, Limited } from "./definition.ts";
import { InvalidPayload } from "./errors.ts";
import type { Instant, Json, NewJob, SlotGroup } from "../machine/job.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { isSealed } from "../machine/seal.ts";
import type { Stored } from "./payload.ts";

type ItemOptions = Omit<EnqueueOptions, "tx" | "cell">;

const itemOptions = ["key", "delay", "dueAt"];
const callOptions = ["tx", "cell"];

/** What `enqueue` was given. @throws TypeError for an unknown option, RangeError for a delay that is none */
export function itemOf(id: string, payload: unknown, options: EnqueueOptions): EnqueueItem {
  refuseOthers(`options of "${id}"`, options, [...itemOptions, ...callOptions]);
  return itemWith(id, payload, options);
}

/** What `enqueueAll` was given. @throws as `itemOf`, with the place in the list */
export function itemsOf(
  id: string,
  items: readonly { readonly payload: unknown; readonly options?: ItemOptions }[],
  options: Pick<EnqueueOptions, "tx" | "cell">,
): readonly EnqueueItem[] {
  refuseOthers(`options of all items of "${id}"`, options, callOptions);
  return items.map((item, index) => {
    const { payload, options: own = {} } = item;
    refuseOthers(`item ${index} of "${id}"`, item, ["payload", "options"]);
    refuseOthers(`options of item ${index} of "${id}"`, own, itemOptions);
    return itemWith(id, payload, own);
  });
}

function itemWith(id: string, payload: unknown, { key, delay, dueAt }: ItemOptions): EnqueueItem {
  return { payload, key, delayMs: delay === undefined ? undefined : durationMs(`delay of "${id}"`, delay), dueAt };
}

/** Without types, or from a variable, any member would pass: a due time at the wrong place would be lost. */
function refuseOthers(what: string, given: object, known: readonly string[]): void {
  const other = Object.keys(given).find((name) => !known.includes(name));
  if (other === undefined) return;
  const place = itemOptions.includes(other)
    ? "put it into the options of the item"
    : callOptions.includes(other)
      ? "put it into the options of the call"
      : `known are ${known.join(", ")}`;
  throw new TypeError(`${what} must not have ${JSON.stringify(other)}: ${place}`);
}

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

/** Of its definition, for its `slotGroups`. */
export const slotGroupsOf = (
  definition: Omit<Limited, "lock"> & Pick<JobDefinition, "lock" | "limits">,
): readonly SlotGroup[] =>
  jobGates.flatMap((gate) => [definition, ...definition.limits].flatMap((of) => gate.groupOf(of) ?? []));

export const slotGroupsOfLimit = (limit: Limited): readonly SlotGroup[] =>
  jobGates.flatMap((gate) => gate.groupOf(limit) ?? []);

/** The slot keys of a kind that no payload decides. */
export const slotKeysOf = ({ slotGroups }: JobDefinition): readonly string[] =>
  slotGroups.flatMap((group) => (isByKey(group) ? [] : group.key));

/** Whether a payload decides some of its slot keys. */
export const hasKeyedSlots = ({ slotGroups }: JobDefinition): boolean => slotGroups.some(isByKey);

/**
 * The slot keys of one job. `payload`: as the handler gets it.
 * @throws InvalidPayload when the `key` of its cap, rate or limit throws for it, or answers no key.
 */
export function slotKeysFor(definition: JobDefinition, payload: unknown): readonly string[] {
  if (!hasKeyedSlots(definition)) return slotKeysOf(definition);
  return jobGates.flatMap((gate) =>
    [definition, ...definition.limits].flatMap((of) => {
      const group = gate.groupOf(of);
      if (group === null) return [];
      if (!isByKey(group) || !("keyOf" in gate)) return group.key;
      const path = of === definition ? `${gate.field}.key` : `limits ${of.id.slice(1)}.key`;
      return group.key + checkedKeyOf(definition.id, path, () => gate.keyOf(of, payload));
    }),
  );
}

/** What a function of the payload answers. `path`: its field. @throws InvalidPayload when it throws. */
export function answerOf(kind: string, path: string, answer: () => unknown): unknown {
  try {
    return answer();
  } catch (error) {
    const message = `threw for it: ${error instanceof Error ? error.message : String(error)}`;
    throw new InvalidPayload(kind, [{ path, message }]);
  }
}

/** What a function of the payload answers as a key. @throws InvalidPayload when it throws, or answers anything else. */
export function checkedKeyOf(kind: string, path: string, answer: () => unknown): string {
  const key = answerOf(kind, path, answer);
  const { slotKeyCharactersMax: most } = contractLimits;
  if (typeof key === "string" && key.length > 0 && key.length <= most && !key.includes("\0") && key.isWellFormed())
    return key;
  const shown =
    typeof key === "string" ? `${JSON.stringify(key.slice(0, 40))} (${key.length} characters)` : String(key);
  const message = `answered ${shown} for it; a key is a text of 1 to ${most} characters without NUL or half a surrogate pair`;
  throw new InvalidPayload(kind, [{ path, message }]);
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
    throw new RangeError(`key of "${kind}" holds a NUL character or half a surrogate pair: remove it`);
  }
  return key;
}
