import { gunzipSync } from "node:zlib";

/**
 * From now on this process reaches function URLs at the emulator: their names lead to AWS, and the emulator has the same
 * functions below a path of its own. Where it should stream it hands out the function's envelope, which is opened here.
 */
export function reachFunctionUrls(endpoint: string): void {
  const send = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input.toString());
    if (!url.hostname.includes(".lambda-url.")) return send(input, init);
    const path = `/_aws/lambda-url/${url.hostname.split(".")[0]}${url.pathname}${url.search}`;
    return opened(await send(`${endpoint}${path}`, init));
  };
}

interface Envelope {
  readonly statusCode?: number;
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

async function opened(response: Response): Promise<Response> {
  const text = await response.text();
  const { statusCode, body, isBase64Encoded, headers }: Envelope = text.startsWith('{"') ? JSON.parse(text) : {};
  if (typeof statusCode !== "number" || typeof body !== "string") return new Response(text, response);
  if (isBase64Encoded !== true) return new Response(body, { status: statusCode });
  const bytes = Buffer.from(body, "base64");
  // As fetch does with an answer of the network.
  const plain = headers?.["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes;
  return new Response(new Uint8Array(plain), { status: statusCode });
}
