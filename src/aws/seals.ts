import { SealBroken, type SealedBy, type Seals } from "../machine/seal.ts";
import { madeOnce } from "../machine/made-once.ts";
import type { Clock } from "../machine/ports.ts";
import { aesOpen, aesSeal } from "./aes.ts";
import { type DataKey, type KeyService, keyService, type SealSettings } from "./data-key.ts";

/** One data key for a process and an hour: far fewer texts than a key may seal, and few calls of KMS. */
const dataKeyMs = 3_600_000;
/** Decrypted data keys that a process keeps, the least recently used one dropped. */
const openKeysMax = 1_000;

interface Current {
  readonly madeAtMs: number;
  readonly key: Promise<DataKey>;
}

/**
 * Envelope encryption: each text by AES-256-GCM under a data key, which is kept with it, encrypted by the key that the stage names.
 * A sealed text is `v1.NAME.KEY.TEXT`, the last two in base64url. Nothing is called before the first use.
 */
export function openSeals(settings: SealSettings, clock: Pick<Clock, "elapsedMs">): Seals {
  const services = new Map<string, KeyService>();
  const serviceOf = (name: string): KeyService => madeOnce(services, name, () => keyService(name, settings));
  const current = new Map<string, Current>();
  const opened = new Map<string, Promise<Uint8Array | null>>();
  const currentKey = (name: string): Promise<DataKey> => {
    const nowMs = clock.elapsedMs();
    const known = current.get(name);
    if (known !== undefined && nowMs - known.madeAtMs < dataKeyMs) return known.key;
    const key = serviceOf(name).make();
    current.set(name, { madeAtMs: nowMs, key });
    key.catch(() => current.delete(name));
    return key;
  };
  const openedKey = (name: string, encrypted: string): Promise<Uint8Array | null> => {
    const id = `${name}.${encrypted}`;
    const known = opened.get(id) ?? serviceOf(name).decrypt(Buffer.from(encrypted, "base64url"));
    opened.delete(id);
    opened.set(id, known);
    known.catch(() => opened.delete(id));
    const [oldest] = opened.keys();
    if (opened.size > openKeysMax && oldest !== undefined) opened.delete(oldest);
    return known;
  };
  return {
    async seal(by, text) {
      const { plain, encrypted } = await currentKey(by.name);
      const sealed = aesSeal(plain, Buffer.from(text), purposeOf(by));
      return ["v1", by.name, base64url(encrypted), base64url(sealed)].join(".");
    },
    async open(by, sealed) {
      const [version, name, encrypted, text, ...rest] = sealed.split(".");
      if (version !== "v1" || encrypted === undefined || text === undefined || rest.length > 0)
        throw new SealBroken(`what "${by.scope}" is given is no text that Belfry sealed`);
      if (name !== by.name)
        throw new SealBroken(
          `what "${by.scope}" is given was sealed by "${name}", and its definition names "${by.name}"`,
        );
      const key = await openedKey(by.name, encrypted);
      const plain = key === null ? null : aesOpen(key, Buffer.from(text, "base64url"), purposeOf(by));
      if (plain === null)
        throw new SealBroken(
          `what "${by.scope}" is given was changed, or was sealed by another key or for another kind`,
        );
      return Buffer.from(plain).toString();
    },
  };
}

const purposeOf = ({ name, scope }: SealedBy): string => `${name}/${scope}`;

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64url");
