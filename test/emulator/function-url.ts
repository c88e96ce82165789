/**
 * From now on this process reaches function URLs at the emulator: their names lead to AWS, and the emulator has the same
 * functions below a path of its own.
 */
export function reachFunctionUrls(endpoint: string): void {
  const send = globalThis.fetch;
  globalThis.fetch = (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input.toString());
    if (!url.hostname.includes(".lambda-url.")) return send(input, init);
    const path = `/_aws/lambda-url/${url.hostname.split(".")[0]}${url.pathname}${url.search}`;
    return send(`${endpoint}${path}`, init);
  };
}
