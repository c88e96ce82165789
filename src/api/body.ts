import { contractLimits } from "../core/job/contract-limits.ts";
import { Problem } from "./problem.ts";

/** Bytes a request body may have: the largest payload and room for the fields around it. */
export const bodyBytesMax = contractLimits.payloadBytesMax + 16 * 1024;

/**
 * The JSON of a request. Size, depth and number of keys are checked on the way in and on the raw text, so that
 * a hostile body costs a scan and never the memory of what it would become.
 * @throws Problem 400 or 413.
 */
export async function readJson(request: Request): Promise<unknown> {
  const text = decode(await readBytes(request).catch(refuseCutOff));
  scan(text);
  const value = parse(text);
  refuseUnstorable(value, "");
  return value;
}

/** A client that went away, or lost its line, is no failure of ours. */
function refuseCutOff(error: unknown): never {
  if (error instanceof Problem) throw error;
  throw new Problem(400, "body-cut-off", "the connection ended before the body did: send it again");
}

async function readBytes(request: Request): Promise<Uint8Array> {
  const tooLarge = (): Problem =>
    new Problem(
      413,
      "body-too-large",
      `the body is larger than ${bodyBytesMax} bytes: store it elsewhere and pass a reference`,
    );
  const announced = request.headers.get("content-length");
  if (Number(announced ?? 0) > bodyBytesMax) throw tooLarge();
  // HTTP lets no body be longer than it says, and reading it whole costs less than reading a stream.
  if (announced !== null) return new Uint8Array(await request.arrayBuffer());
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > bodyBytesMax) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Problem(400, "bad-encoding", "the body is not UTF-8");
  }
}

/** Counts braces and colons outside of strings. Wrong JSON may pass: parsing refuses it afterwards. */
function scan(text: string): void {
  let depth = 0;
  let keys = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case quote:
        at = endOfString(text, at);
        break;
      case openBrace:
      case openBracket:
        depth += 1;
        break;
      case closeBrace:
      case closeBracket:
        depth -= 1;
        break;
      case colon:
        keys += 1;
        break;
    }
    // One level and a few keys more than a payload may have, for the object around it.
    if (depth > contractLimits.payloadDepthMax + 1) {
      throw new Problem(
        400,
        "too-deep",
        `the body is nested deeper than ${contractLimits.payloadDepthMax} levels: flatten it`,
      );
    }
    if (keys > contractLimits.payloadKeysMax + 8) {
      throw new Problem(
        400,
        "too-many-keys",
        `the body has more than ${contractLimits.payloadKeysMax} keys: pass a reference instead`,
      );
    }
  }
}

const [quote, backslash, openBrace, closeBrace, openBracket, closeBracket, colon] = [34, 92, 123, 125, 91, 93, 58];

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === backslash) at += 1;
    else if (code === quote) return at;
  }
  return text.length;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem(400, "bad-json", "the body is not JSON");
  }
}

/** Postgres stores neither NUL nor half a surrogate pair, and JSON cannot say a number beyond 1.8e308. */
function refuseUnstorable(value: unknown, path: string): void {
  if (typeof value === "string") refuseText(value, path);
  else if (typeof value === "number" && !Number.isFinite(value)) {
    throw unstorable(path, "is a number too large to be stored: send it as a string");
  } else if (Array.isArray(value)) {
    value.forEach((item, index) => refuseUnstorable(item, `${path}[${index}]`));
  } else if (typeof value === "object" && value !== null) {
    for (const [name, item] of Object.entries(value)) {
      const field = path === "" ? name : `${path}.${name}`;
      refuseText(name, field);
      refuseUnstorable(item, field);
    }
  }
}

function refuseText(text: string, path: string): void {
  if (text.includes("\0")) throw unstorable(path, "holds a NUL character: remove it");
  if (!text.isWellFormed()) throw unstorable(path, "holds half a surrogate pair, which is not text: remove it");
}

const unstorable = (path: string, message: string): Problem =>
  new Problem(400, "not-storable", `${shorten(path)} ${message}`, { issues: [{ path: shorten(path), message }] });

const shorten = (path: string): string => {
  const shown = path.toWellFormed().replaceAll("\0", "\u{FFFD}");
  return shown.length <= 200 ? shown || "(root)" : `${shown.slice(0, 200)}...`;
};
