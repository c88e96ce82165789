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

async function opened(response: Response): Promise<Response> {
  const text = await response.text();
  const envelope = text.startsWith('{"') ? (JSON.parse(text) as { statusCode?: number; body?: string }) : {};
  const { statusCode, body } = envelope;
  if (typeof statusCode !== "number" || typeof body !== "string") return new Response(text, response);
  return new Response(body, { status: statusCode });
}
