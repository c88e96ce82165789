import { isByKey } from "../../../src/admission/slots.ts";
import { contractLimits } from "../../../src/machine/contract-limits.ts";
import type { AttemptRef, SlotGroup } from "../../../src/machine/job.ts";
import { postgresLimits } from "../../../src/postgres/postgres-limits.ts";
import { noAftermath } from "../../../src/machine/outbox.ts";
import type { UnitTaken } from "../../../src/machine/slot-store.ts";
import type { GroupRow, JobRow, SlotRow } from "./rows.ts";
import type { Tables } from "./tables.ts";

/** The group that a key stands under. Slots of a cap or rate by key are made at the first claim of a key. */
export const groupOf = (t: Tables, key: string): GroupRow => t.groups.row(isKeyed(key) ? ruleOf(key) : key);
const isKeyed = (key: string): boolean => /^(cap|rate):[^#]*#./.test(key);
const ruleOf = (key: string): string => key.slice(0, key.indexOf("#") + 1);

/** Creates missing slots and retires free ones above the size; a taken one goes when it is freed. */
export function installSlots(
  t: Tables,
  groups: readonly SlotGroup[],
  { onlyNew = false }: { onlyNew?: boolean } = {},
): void {
  for (const { key, size, windowMs, onRefusal, reason } of groups) {
    if (onlyNew && t.groups.get(key) !== undefined) continue;
    t.groups.set(key, { key, size, windowMs, onRefusal, reason });
    if (isByKey({ key })) continue;
    makeSlots(t, key, size);
    for (const slot of slotsOf(t, key))
      if (slot.n > size && slot.jobId === null && isBack(t, slot)) t.slots.delete(slotKey(key, slot.n));
  }
}

function makeSlots(t: Tables, key: string, size: number): void {
  for (let n = 1; n <= size; n += 1) {
    if (t.slots.get(slotKey(key, n)) === undefined) t.slots.set(slotKey(key, n), empty(key, n));
  }
}

/** Forgets keys that nothing uses and no job waits for, an hour after they were made. */
export function forgetKeys(t: Tables, limit: number): void {
  const waited = new Set(t.inStates("PENDING", "RETRY_WAIT").map((row) => row.heldOn));
  const unused = [...t.madeKeys.entries()]
    .filter(([key, at]) => at < t.now() - postgresLimits.keyForgottenMs && !waited.has(key))
    .filter(([key]) => slotsOf(t, key).every((slot) => slot.jobId === null && isBack(t, slot)))
    .toSorted(([, a], [, b]) => a - b);
  for (const [key] of unused.slice(0, limit)) {
    t.madeKeys.delete(key);
    for (const slot of slotsOf(t, key)) t.slots.delete(slotKey(key, slot.n));
  }
}

/** Takes one slot of every group the row names, or none. @returns what was refused, or null. */
export function takeSlots(t: Tables, row: JobRow, attempt: number): Refusal | null {
  for (const key of row.slotKeys.filter(isKeyed)) makeKey(t, key);
  const free = row.slotKeys.map((key) => ({ key, slot: slotFor(t, row, key) }));
  const refused = free.filter(({ slot }) => slot === undefined).map(({ key }) => key);
  if (refused.length > 0) return refusal(t, row, refused);
  for (const { slot } of free) {
    if (slot === undefined) continue;
    const { windowMs } = groupOf(t, slot.key);
    const taken = { ...empty(slot.key, slot.n), jobId: row.id, attempt };
    const spent = windowMs === undefined ? null : { ...empty(slot.key, slot.n), freeFrom: t.now() + windowMs };
    t.slots.set(slotKey(slot.key, slot.n), spent ?? taken);
  }
  return null;
}

/** The earliest unit of a rate that is back within so many ms, spent from then on; else the time of the next. */
export function takeUnit(t: Tables, key: string, withinMs: number): UnitTaken | null {
  const { size, windowMs } = t.groups.get(isKeyed(key) ? ruleOf(key) : key) ?? {};
  if (size === undefined || windowMs === undefined) return null;
  if (isKeyed(key)) makeKey(t, key);
  const now = t.now();
  const atOf = ({ freeFrom, keptFor }: SlotRow): number =>
    Math.max(freeFrom ?? 0, now) + (keptFor === null ? 0 : windowMs);
  const slots = slotsOf(t, key).filter(({ n }) => n <= size);
  const free = slots
    .filter((slot) => isFree(t, slot, withinMs))
    .toSorted((a, b) => (a.freeFrom ?? 0) - (b.freeFrom ?? 0));
  const [unit] = free;
  const at = unit === undefined ? Math.min(...slots.map(atOf)) : Math.max(unit.freeFrom ?? 0, now);
  if (unit !== undefined) t.slots.set(slotKey(key, unit.n), { ...empty(key, unit.n), freeFrom: at + windowMs });
  const isWaitedFor = t.inStates("PENDING", "RETRY_WAIT").some((row) => row.heldOn === key && !row.blocked);
  const freed = unit !== undefined && isWaitedFor ? [key] : [];
  return { at, waitMs: at - now, isTaken: unit !== undefined, aftermath: { ...noAftermath, freed } };
}

function makeKey(t: Tables, key: string): void {
  if (slotsOf(t, key).length === 0) t.madeKeys.set(key, t.now());
  makeSlots(t, key, groupOf(t, key).size);
}

/** The one that is kept for it; else a free one, unless a job that is held for it was due earlier. */
function slotFor(t: Tables, row: JobRow, key: string): SlotRow | undefined {
  const slots = slotsOf(t, key);
  const kept = slots.find((slot) => slot.jobId === row.id && slot.keptFor === row.generation && isBack(t, slot));
  if (kept !== undefined) return kept;
  const isLater = (held: JobRow): boolean => held.dueAt < row.dueAt || (held.dueAt === row.dueAt && held.id < row.id);
  const mayOvertake = refusalOf(t, row, key) === "skip";
  if (!mayOvertake && t.inStates("PENDING", "RETRY_WAIT").some((held) => held.heldOn === key && isLater(held))) return;
  return slots.find((slot) => isFree(t, slot));
}

/** A caught-up job waits, whatever its schedule says about overlap. */
export const refusalOf = (t: Tables, row: JobRow, key: string): SlotGroup["onRefusal"] =>
  row.catchUp ? "hold" : groupOf(t, key).onRefusal;

/** What a job that is QUEUED again keeps for its claim: free slots for one that was held, or those of its last try. */
export function keepSlot(t: Tables, slot: SlotRow, row: JobRow): void {
  const freeFrom = groupOf(t, slot.key).windowMs === undefined ? null : slot.freeFrom;
  const kept = { jobId: row.id, attempt: row.attempt + 1, keptFor: row.generation, freeFrom };
  t.slots.set(slotKey(slot.key, slot.n), { ...slot, ...kept });
}

export function keepSlotsOf(t: Tables, held: JobRow, row: JobRow): void {
  for (const slot of t.slots.values()) {
    if (slot.jobId === held.id && slot.attempt === held.attempt && slot.keptFor === null) keepSlot(t, slot, row);
  }
}

/** What is kept for a job that is not claimed after all. */
export function dropKept(t: Tables, row: { readonly id: number }): string[] {
  return free(t, (slot) => slot.jobId === row.id && slot.keptFor !== null);
}

export interface Refusal {
  readonly key: string;
  readonly decision: "hold" | "skip";
  /** Why the row is held or skipped. */
  readonly reason: string;
}

/**
 * Groups without a free slot: skipped if any of them says so, else held for the first. A queue-one group has one seat for
 * waiting; its job keeps it until it runs or ends.
 */
function refusal(t: Tables, row: JobRow, keys: readonly string[]): Refusal {
  const groups = keys.map((key) => ({ ...groupOf(t, key), onRefusal: refusalOf(t, row, key) }));
  const skips = groups.filter(
    (group) =>
      group.onRefusal === "skip" ||
      (group.onRefusal === "queue-one" && !hasSeat(t, row, group.key)) ||
      isFull(t, group.key),
  );
  const [reason] = skips.map((group) => group.reason).toSorted();
  const key = keys[0] ?? "";
  if (reason !== undefined) return { key, decision: "skip", reason };
  for (const group of groups) if (group.onRefusal === "queue-one") t.seats.set(group.key, row.id);
  return { key, decision: "hold", reason: "slot" };
}

/** So many wait for it that no other may. */
function isFull(t: Tables, key: string): boolean {
  const { onRefusal, reason } = groupOf(t, key);
  const waiting = () => t.inStates("PENDING", "RETRY_WAIT").filter((held) => held.heldOn === key && !held.blocked);
  return onRefusal === "hold" && reason !== "slot" && waiting().length >= contractLimits.overlapWaitingMax;
}

const hasSeat = (t: Tables, row: JobRow, key: string): boolean => (t.seats.get(key) ?? row.id) === row.id;

/** Frees what this try holds. @returns the keys that became free. */
export function freeSlotsOf(t: Tables, row: { readonly id: number; readonly attempt: number }): string[] {
  return free(t, (slot) => slot.jobId === row.id && slot.attempt === row.attempt && slot.keptFor === null);
}

/** Frees what canceled jobs left behind and must be gone by now, except those of `ids`. */
export function freeLeftBehind(t: Tables, ids: ReadonlySet<number>): string[] {
  const isOver = (slot: SlotRow): boolean => isLeft(slot) && isBack(t, slot);
  return free(t, (slot) => isOver(slot) && !ids.has(slot.jobId ?? 0));
}

/** Frees the slots that canceled jobs left behind for their handlers. */
export function freeLeft(t: Tables, held: readonly AttemptRef[]): string[] {
  return held.flatMap(({ jobId, attempt }) =>
    free(
      t,
      (slot) => isLeft(slot) && slot.jobId === Number(jobId) && slot.attempt === attempt && !hasRun(t, slot.jobId),
    ),
  );
}

const hasRun = (t: Tables, id: number): boolean => [...t.runs.values()].some((run) => run.starterId === id);

/** The run of a canceled job keeps the slot of its starter as long. */
export function leaveToRun(t: Tables, runId: number | null, freeFrom: number): void {
  const run = runId === null ? undefined : t.runs.get(runId);
  if (run?.state !== "CANCELING") return;
  for (const slot of t.slots.values()) {
    if (slot.jobId === run.starterId && slot.jobId !== null && slot.attempt === null && slot.keptFor === null)
      t.slots.set(slotKey(slot.key, slot.n), { ...slot, freeFrom: Math.max(slot.freeFrom ?? 0, freeFrom) });
  }
}

/** A canceled job keeps its slots until `freeFrom`, or until its worker says that the handler is gone. */
export function leaveSlots(t: Tables, jobId: number, freeFrom: number): void {
  for (const slot of t.slots.values()) {
    if (slot.jobId === jobId && slot.freeFrom === null && slot.keptFor === null)
      t.slots.set(slotKey(slot.key, slot.n), { ...slot, freeFrom });
  }
}

/** The slots of a job that starts a run are its run's from here on. */
export function passSlots(t: Tables, starterId: number | null): void {
  if (starterId === null) return;
  for (const slot of t.slots.values()) {
    if (slot.jobId === starterId && slot.keptFor === null)
      t.slots.set(slotKey(slot.key, slot.n), { ...slot, attempt: null });
  }
}

/** Frees what runs held that are closed. */
export function freePassed(t: Tables): string[] {
  const closed = new Set([...t.runs.values()].flatMap((run) => (run.finishedAt === null ? [] : (run.starterId ?? []))));
  return free(
    t,
    (slot) =>
      slot.jobId !== null &&
      slot.attempt === null &&
      slot.keptFor === null &&
      closed.has(slot.jobId) &&
      isBack(t, slot),
  );
}

/** Frees what the run of this starter held: it was withdrawn before anything of it ran. */
export function dropPassed(t: Tables, starterId: number): void {
  free(t, (slot) => slot.jobId === starterId && slot.attempt === null);
}

/** By a canceled job whose handler may still run. */
const isLeft = (slot: SlotRow): boolean =>
  slot.freeFrom !== null && slot.jobId !== null && slot.attempt !== null && slot.keptFor === null;
const isBack = (t: Tables, slot: SlotRow, by = t.now()): boolean => slot.freeFrom === null || slot.freeFrom <= by;

/** `aheadMs`: also a unit of a rate that is back by then. */
export function isFree(t: Tables, slot: SlotRow, aheadMs = 0): boolean {
  const { size, windowMs } = groupOf(t, slot.key);
  if (slot.n > size || !isBack(t, slot, t.now() + (windowMs === undefined ? 0 : aheadMs))) return false;
  const job = slot.keptFor === null || slot.jobId === null ? undefined : t.jobs.get(slot.jobId);
  const isKept = job?.state === "QUEUED" && job.generation === slot.keptFor;
  return slot.jobId === null || isLeft(slot) || (slot.keptFor !== null && !isKept);
}

function free(t: Tables, isMine: (slot: SlotRow) => boolean): string[] {
  const mine = [...t.slots.values()].filter(isMine);
  for (const slot of mine) {
    const { size, windowMs } = groupOf(t, slot.key);
    const freeFrom = windowMs === undefined ? null : slot.freeFrom;
    if (slot.n > size && !isKeyed(slot.key) && freeFrom === null) t.slots.delete(slotKey(slot.key, slot.n));
    else t.slots.set(slotKey(slot.key, slot.n), { ...empty(slot.key, slot.n), freeFrom });
  }
  return [...new Set(mine.map((slot) => slot.key))];
}

export function slotsOf(t: Tables, key: string): SlotRow[] {
  return [...t.slots.values()].filter((slot) => slot.key === key).toSorted((a, b) => a.n - b.n);
}

const empty = (key: string, n: number): SlotRow => ({
  key,
  n,
  jobId: null,
  attempt: null,
  keptFor: null,
  freeFrom: null,
});
const slotKey = (key: string, n: number): string => `${key}#${n}`;
