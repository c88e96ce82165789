import { contractLimits } from "../machine/contract-limits.ts";
import { isInexact } from "../define/payload.ts";
import { fieldProblem, HttpProblem, invalidField } from "./problem.ts";

/** Bytes a request body may have: the largest payload and room for the fields around it. */
export const bodyBytesMax = contractLimits.payloadBytesMax + 16 * 1024;

/**
 * The JSON of a request; undefined without a body. Size, depth and number of keys are checked on the raw text, so that a
 * hostile body costs one scan and no memory for its parsed form.
 * @throws HttpProblem 400, 413 or 415.
 */
export async function readJson(request: Request): Promise<unknown> {
  const type = request.headers.get("content-type");
  if (type !== null) refuseType(type, request.headers.get("content-encoding"));
  const bytes = await readBytes(request).catch(refuseCutOff);
  if (bytes.byteLength === 0) return undefined;
  if (type === null) throw notJson("content-type", "must be application/json where there is a body");
  const text = decode(bytes);
  scan(text);
  const value = parse(text);
  refuseUnstorable(value, "");
  return value;
}

/** @throws HttpProblem 415 for anything but JSON in UTF-8: a form of another site could send it. */
export function refuseType(type: string, encoding: string | null): void {
  const [media = "", ...parameters] = type
    .toLowerCase()
    .split(";")
    .map((part) => part.trim());
  if (media !== "application/json") throw notJson("content-type", "must be application/json");
  const charset = parameters.find((part) => part.startsWith("charset="))?.slice("charset=".length) ?? "utf-8";
  if (!/^"?utf-?8"?$/.test(charset)) throw notJson("content-type", "must be in UTF-8");
  if (encoding !== null && encoding !== "identity") throw notJson("content-encoding", "must be left out");
}

const notJson = (header: string, rule: string): HttpProblem => fieldProblem("not-json", `header ${header}`, rule);

/** A client that disconnected is no failure of this server. */
function refuseCutOff(error: unknown): never {
  if (error instanceof HttpProblem) throw error;
  throw new HttpProblem("body-cut-off", "the connection ended before the body did: send it again");
}

async function readBytes(request: Request): Promise<Uint8Array> {
  const tooLarge = (): HttpProblem =>
    new HttpProblem(
      "body-too-large",
      `the body is larger than ${bodyBytesMax} bytes: store it elsewhere and pass a reference`,
    );
  const announced = request.headers.get("content-length");
  // HTTP bounds a body by its declared length, and a whole read costs less than a stream.
  if (announced !== null) {
    if (Number(announced) > bodyBytesMax) throw tooLarge();
    return new Uint8Array(await request.arrayBuffer());
  }
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
    throw new HttpProblem("bad-encoding", "the body is not UTF-8");
  }
}

/** Counts braces and names outside of strings. Wrong JSON may pass: parsing refuses it afterwards. */
function scan(text: string): void {
  const open: (Set<string> | null)[] = [];
  let name: string | null = null;
  let keys = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case quote: {
        const start = at;
        at = endOfString(text, at);
        name = text.slice(start, at + 1);
        break;
      }
      case openBrace:
      case openBracket:
        open.push(null);
        break;
      case closeBrace:
      case closeBracket:
        open.pop();
        break;
      case colon:
        keys += 1;
        // A string is a name once: what has none here is no JSON, and is read no further.
        if (name === null || open.length === 0) throw notJsonAtAll();
        open.push(withName(name, open.pop() ?? new Set(), at));
        name = null;
        break;
    }
    // One level and a few keys more than a payload may have, for the object around it.
    if (open.length > contractLimits.payloadDepthMax + 1) {
      throw new HttpProblem(
        "too-deep",
        `the body is nested deeper than ${contractLimits.payloadDepthMax} levels: flatten it`,
      );
    }
    if (keys > contractLimits.payloadKeysMax + 8) {
      throw new HttpProblem(
        "too-many-keys",
        `the body has more than ${contractLimits.payloadKeysMax} keys: pass a reference instead`,
      );
    }
  }
}

/** Parsers differ in which of two equal names counts, so what checks a request before us may have read another one. */
function withName(text: string, names: Set<string>, at: number): Set<string> {
  const name = parse(text) as string;
  if (names.has(name)) throw invalidField(shorten(name), `stands twice in one object, again before character ${at}`);
  return names.add(name);
}

const notJsonAtAll = (): HttpProblem => new HttpProblem("bad-json", "the body is not JSON");

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
    throw notJsonAtAll();
  }
}

/** Of each text and number in it, however deep. */
function refuseUnstorable(value: unknown, path: string): void {
  if (typeof value === "string") refuseText(value, path);
  else if (typeof value === "number") refuseNumber(value, path);
  else if (Array.isArray(value)) {
    value.forEach((item, index) => refuseUnstorable(item, `${path}[${index}]`));
  } else {
    for (const [name, item] of Object.entries(value ?? {})) {
      const field = path === "" ? name : `${path}.${name}`;
      refuseText(name, field);
      refuseUnstorable(item, field);
    }
  }
}

/** JSON cannot say a number beyond 1.8e308, and carries integers exactly up to 2^53. */
function refuseNumber(value: number, path: string): void {
  if (!Number.isFinite(value)) throw unstorable(path, "is a number too large to be stored: send it as a string");
  if (isInexact(value)) {
    throw unstorable(path, "is an integer beyond 2^53, which JSON does not carry exactly: send it as a string");
  }
}

/** Postgres stores neither NUL nor half a surrogate pair. */
function refuseText(text: string, path: string): void {
  if (text.includes("\0")) throw unstorable(path, "holds a NUL character: remove it");
  if (!text.isWellFormed()) throw unstorable(path, "holds half a surrogate pair, which is not text: remove it");
}

const unstorable = (path: string, message: string): HttpProblem =>
  new HttpProblem("not-storable", `${shorten(path)} ${message}`, { issues: [{ path: shorten(path), message }] });

const shorten = (path: string): string => {
  const shown = path.toWellFormed().replaceAll("\0", "\u{FFFD}");
  return shown.length <= 200 ? shown || "(root)" : `${shown.slice(0, 200)}...`;
};
