import { createHash, createHmac } from "node:crypto";

type Bytes = string | ArrayBuffer | ArrayBufferView;

/** Node's own hash in the shape the signer asks for. */
export class Sha256 {
  readonly #hash: { update(data: Buffer): unknown; digest(): Buffer };

  constructor(secret?: Bytes) {
    this.#hash = secret === undefined ? createHash("sha256") : createHmac("sha256", bytes(secret));
  }

  update(data: Bytes): void {
    this.#hash.update(bytes(data));
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }

  /** Required by the interface; each instance is used once. */
  reset(): void {}
}

function bytes(data: Bytes): Buffer {
  if (typeof data === "string") return Buffer.from(data, "utf8");
  return data instanceof ArrayBuffer ? Buffer.from(data) : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}
