/**
 * What Lambda's Node runtime does around a handler, as far as AWS documents it: loads `file.export` from the code's folder,
 * asks the Runtime API for one invocation after the other and posts its answer. Streams answers as function URLs ask for.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const { AWS_LAMBDA_RUNTIME_API, LAMBDA_TASK_ROOT, _HANDLER } = process.env;
const base = `http://${AWS_LAMBDA_RUNTIME_API}/2018-06-01/runtime`;
const streaming = Symbol("streaming");

globalThis.awslambda = {
  streamifyResponse: (handler) => Object.assign(handler, { [streaming]: true }),
  HttpResponseStream: {
    from(stream, metadata) {
      stream.metadata = metadata;
      return stream;
    },
  },
};

const post = (path, body, headers = {}) => fetch(`${base}${path}`, { method: "POST", body, headers });
const told = (error) =>
  JSON.stringify({ errorType: error?.name ?? "Error", errorMessage: String(error?.stack ?? error) });

let handler;
try {
  const [file, name] = _HANDLER.split(".");
  handler = (await import(pathToFileURL(join(LAMBDA_TASK_ROOT, `${file}.mjs`)).href))[name];
  if (typeof handler !== "function") throw new Error(`${_HANDLER} is no function`);
} catch (error) {
  await post("/init/error", told(error));
  process.exit(1);
}

for (;;) {
  const next = await fetch(`${base}/invocation/next`);
  const id = next.headers.get("lambda-runtime-aws-request-id");
  const deadline = Number(next.headers.get("lambda-runtime-deadline-ms"));
  const context = { awsRequestId: id, functionName: "test", getRemainingTimeInMillis: () => deadline - Date.now() };
  try {
    const event = await next.json();
    if (handler[streaming] === true) await stream(id, event, context);
    else await post(`/invocation/${id}/response`, JSON.stringify((await handler(event, context)) ?? null));
  } catch (error) {
    await post(`/invocation/${id}/error`, told(error));
  }
}

async function stream(id, event, context) {
  const { PassThrough } = await import("node:stream");
  const out = new PassThrough();
  const chunks = [];
  out.on("data", (chunk) => chunks.push(chunk));
  const ended = new Promise((resolve) => out.on("end", resolve));
  await handler(event, out, context);
  out.end();
  await ended;
  const prelude = Buffer.from(`${JSON.stringify(out.metadata)}${"\0".repeat(8)}`);
  await post(`/invocation/${id}/response`, Buffer.concat([prelude, ...chunks]), {
    "lambda-runtime-function-response-mode": "streaming",
    "content-type": "application/vnd.awslambda.http-integration-response",
  });
}
