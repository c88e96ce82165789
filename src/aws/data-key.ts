import { createHash, hkdfSync, randomBytes } from "node:crypto";
import { SealUnavailable } from "../machine/seal.ts";
import { serviceUrl } from "./address.ts";
import { aesOpen, aesSeal } from "./aes.ts";
import { jsonFetch } from "./signed-fetch.ts";

export interface SealSettings {
  /** By name: the ARN of a KMS key, or `local:` and 32 bytes in base64. `*` stands for every name that has none. */
  readonly keys: Readonly<Record<string, string>>;
  readonly region: string;
  /** Null is the service of the region. */
  readonly kmsEndpoint: string | null;
  readonly isDualStack: boolean;
}

export interface DataKey {
  /** 32 bytes. */
  readonly plain: Uint8Array;
  /** The same, encrypted by the key that the stage names: what is kept with each text. */
  readonly encrypted: Uint8Array;
}

/** Makes and decrypts data keys under one key of the stage. */
export interface KeyService {
  make(): Promise<DataKey>;
  /** @returns null for what no key of this service made. @throws SealUnavailable */
  decrypt(encrypted: Uint8Array): Promise<Uint8Array | null>;
}

/** @throws SealUnavailable where the stage has no key of that name. */
export function keyService(name: string, settings: SealSettings): KeyService {
  const key = settings.keys[name] ?? settings.keys["*"];
  if (key === undefined) {
    const known = Object.keys(settings.keys).join(", ") || "none";
    throw new SealUnavailable(`there is no key "${name}" here: name it in BELFRY_SEALS, which has ${known}`);
  }
  return key.startsWith("local:") ? localKeys(name, key) : kmsKeys(name, key, settings);
}

/** Keys of one machine, the newest first: `local:NEW,local:OLD`. Each name has its own, so that one does not open another's. */
function localKeys(name: string, keys: string): KeyService {
  const all = keys.split(",").map((key) => {
    const bytes = Buffer.from(key.slice("local:".length), "base64");
    return Buffer.from(hkdfSync("sha256", bytes, "", `belfry.seal:${name}`, 32));
  });
  const idOf = (key: Uint8Array) => createHash("sha256").update(key).digest().subarray(0, 8);
  return {
    async make() {
      const [newest] = all;
      if (newest === undefined) throw new SealUnavailable(`the key "${name}" has no bytes`);
      const plain = randomBytes(32);
      return { plain, encrypted: Buffer.concat([idOf(newest), aesSeal(newest, plain, name)]) };
    },
    async decrypt(encrypted) {
      const key = all.find((each) => idOf(each).equals(encrypted.subarray(0, 8)));
      return key === undefined ? null : aesOpen(key, encrypted.subarray(8), name);
    },
  };
}

const callMsMax = 5_000;

/** What KMS answers for bytes that it did not make, or made for another name: they open nowhere. */
const notOurs = new Set(["InvalidCiphertextException", "IncorrectKeyException"]);

/** An old version of the key, and an old key that the role may still use, open what they made: KMS reads it from the bytes. */
function kmsKeys(name: string, arn: string, { region, kmsEndpoint, isDualStack }: SealSettings): KeyService {
  const EncryptionContext = { "belfry:seal": name };
  const call = async (action: string, body: object): Promise<KmsAnswer> => {
    const refused = (why: string, cause?: unknown) =>
      new SealUnavailable(`${action} of the key "${name}" (${arn}) was refused: ${why}`, { cause });
    let response: Response;
    try {
      response = await jsonFetch({
        url: kmsEndpoint ?? serviceUrl("kms", region, isDualStack),
        service: "kms",
        region,
        target: `TrentService.${action}`,
        input: { EncryptionContext, ...body },
        timeoutMs: callMsMax,
      });
    } catch (error) {
      throw refused(error instanceof Error ? error.message : String(error), error);
    }
    if (response.ok) return (await response.json()) as KmsAnswer;
    // AWS names the role in its message.
    const { __type: type = "", message = "" } = (await response.json().catch(() => ({}))) as KmsRefusal;
    const code = type.replace(/^.*#/, "");
    if (notOurs.has(code)) return {};
    throw refused(`${response.status} ${code} ${message}`.trim());
  };
  return {
    async make() {
      const { Plaintext, CiphertextBlob } = await call("GenerateDataKey", { KeyId: arn, KeySpec: "AES_256" });
      if (Plaintext === undefined || CiphertextBlob === undefined)
        throw new SealUnavailable(`GenerateDataKey of the key "${name}" (${arn}) answered no key`);
      return { plain: Buffer.from(Plaintext, "base64"), encrypted: Buffer.from(CiphertextBlob, "base64") };
    },
    async decrypt(encrypted) {
      const { Plaintext } = await call("Decrypt", { CiphertextBlob: Buffer.from(encrypted).toString("base64") });
      return Plaintext === undefined ? null : Buffer.from(Plaintext, "base64");
    },
  };
}

interface KmsAnswer {
  readonly Plaintext?: string;
  readonly CiphertextBlob?: string;
}

interface KmsRefusal {
  readonly __type?: string;
  readonly message?: string;
}
