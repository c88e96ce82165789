/**
 * What Lambda's Node runtime does around a handler, as far as AWS documents it: loads `file.export` from the code's folder,
 * asks the Runtime API for one invocation after the other and posts its answer.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const { AWS_LAMBDA_RUNTIME_API, LAMBDA_TASK_ROOT, _HANDLER } = process.env;
const base = `http://${AWS_LAMBDA_RUNTIME_API}/2018-06-01/runtime`;
const post = (path, body) => fetch(`${base}${path}`, { method: "POST", body });
const described = (error) =>
  JSON.stringify({ errorType: error?.name ?? "Error", errorMessage: String(error?.stack ?? error) });

let handler;
try {
  const [file, name] = _HANDLER.split(".");
  handler = (await import(pathToFileURL(join(LAMBDA_TASK_ROOT, `${file}.mjs`)).href))[name];
  if (typeof handler !== "function") throw new Error(`${_HANDLER} is no function`);
} catch (error) {
  await post("/init/error", described(error));
  process.exit(1);
}

for (;;) {
  const next = await fetch(`${base}/invocation/next`);
  const id = next.headers.get("lambda-runtime-aws-request-id");
  const deadline = Number(next.headers.get("lambda-runtime-deadline-ms"));
  const context = { awsRequestId: id, functionName: "test", getRemainingTimeInMillis: () => deadline - Date.now() };
  try {
    const event = await next.json();
    await post(`/invocation/${id}/response`, JSON.stringify((await handler(event, context)) ?? null));
  } catch (error) {
    await post(`/invocation/${id}/error`, described(error));
  }
}
