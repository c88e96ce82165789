/** Payloads and results that only the workers of their app can read: sealed before a store is given them. */
import type { Json } from "./job.ts";

/** With which key of the stage a definition seals, and for what: a text that is sealed for one scope opens in no other. */
export interface SealedBy {
  /** Of the key, in the settings of the stage. */
  readonly name: string;
  /** The kind; for the tasks of a graph the graph, since they are given each other's outputs. */
  readonly scope: string;
}

/** Encrypts and decrypts. What it made must open in every process that may use the key, also after the key was rotated. */
export interface Seals {
  /** @throws SealUnavailable */
  seal(by: SealedBy, text: string): Promise<string>;
  /** @throws SealUnavailable; SealBroken for a text that was changed, or sealed for something else. */
  open(by: SealedBy, sealed: string): Promise<string>;
}

/** The key cannot be used here and now: it is missing, forbidden or away. A matter of the deployment, not of the job. */
export class SealUnavailable extends Error {
  override readonly name = "SealUnavailable";
  readonly code = "SEAL_UNAVAILABLE";
}

/** What is stored is not what was sealed for this kind. */
export class SealBroken extends Error {
  override readonly name = "SealBroken";
  readonly code = "SEAL_BROKEN";
}

/** What a store keeps in place of a value. */
export interface Sealed {
  readonly $sealed: string;
}

/** What people are shown in its place, and what is kept of an error's text. */
export const sealedText = "[sealed]";

export function isSealed(value: unknown): value is Sealed {
  if (typeof value !== "object" || value === null || !("$sealed" in value)) return false;
  return typeof value.$sealed === "string" && Object.keys(value).length === 1;
}

/** Null stays null: it says that there is none. What is sealed already, as a rerun has it, stays as it is. */
export async function sealValue(seals: Seals | undefined, by: SealedBy, value: Json, bytesMax: number): Promise<Json> {
  if (value === null || isSealed(value)) return value;
  const sealed = { $sealed: await known(seals, by).seal(by, JSON.stringify(value)) };
  const bytes = Buffer.byteLength(JSON.stringify(sealed));
  if (bytes <= bytesMax) return sealed;
  throw new RangeError(
    `what "${by.scope}" seals is ${bytes} bytes once it is sealed; the limit is ${bytesMax}: store it elsewhere and pass a reference`,
  );
}

/** Opens what is sealed in a stored value, at any depth: the end of a run holds the run's input. */
export async function openValue(seals: Seals | undefined, by: SealedBy, value: Json): Promise<Json> {
  if (isSealed(value)) return JSON.parse(await known(seals, by).open(by, value.$sealed)) as Json;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return await Promise.all(value.map((each: Json) => openValue(seals, by, each)));
  const members = Object.entries(value).map(async ([name, each]) => [name, await openValue(seals, by, each)] as const);
  return Object.fromEntries(await Promise.all(members));
}

function known(seals: Seals | undefined, { name, scope }: SealedBy): Seals {
  if (seals !== undefined) return seals;
  throw new SealUnavailable(`"${scope}" is sealed by "${name}", and this process has no keys: set BELFRY_SEALS`);
}
