import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

/** NIST SP 800-38D: a fresh nonce of 96 bits for each text, at most 2^32 texts under one key. */
const ivBytes = 12;
const tagBytes = 16;

/** AES-256-GCM: nonce, text, tag. `purpose` is authenticated with it, and not part of it. */
export function aesSeal(key: Uint8Array, plain: Uint8Array, purpose: string): Uint8Array {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(purpose));
  return Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** @returns null for what was changed, or was made with another key or for another purpose. */
export function aesOpen(key: Uint8Array, sealed: Uint8Array, purpose: string): Uint8Array | null {
  if (sealed.length < ivBytes + tagBytes) return null;
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, ivBytes), { authTagLength: tagBytes });
    decipher.setAAD(Buffer.from(purpose)).setAuthTag(sealed.subarray(-tagBytes));
    return Buffer.concat([decipher.update(sealed.subarray(ivBytes, -tagBytes)), decipher.final()]);
  } catch {
    return null;
  }
}
