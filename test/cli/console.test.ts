import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { receiver } from "../publish/sink.ts";
import { belfry, serveApi, shapeOf, signIn } from "./harness.ts";
import { stackWithApi } from "./stack-with-api.ts";
import { listening } from "../support/listening.ts";

const env = { AWS_REGION: "eu-west-1" };

interface Shown {
  readonly url: string;
  readonly open: string;
  readonly bearer: string;
  readonly target: string;
}

const session = ({ bearer }: Shown) => ({ headers: { authorization: `Bearer ${bearer}` } });

/** Starts it, and waits until it says where it is. */
async function opened(args: readonly string[], more: NodeJS.ProcessEnv = {}) {
  signIn();
  const interrupt = new AbortController();
  const said = Promise.withResolvers<string>();
  const settings = { env: { ...env, ...more }, interrupted: interrupt.signal, onOut: said.resolve };
  const ended = belfry(["console", "--json", ...args], settings);
  onTestFinished(() => interrupt.abort());
  const out = await Promise.race([said.promise, ended.then(({ err }) => Promise.reject(new Error(err)))]);
  return { shown: JSON.parse(out) as Shown, interrupt, ended };
}

test("console signs what it passes on, shows its address, and ends with 130 on Ctrl-C", async () => {
  const { url, received } = await receiver(() => ({ status: 200, body: '{"jobs":[]}' }));
  const { shown, interrupt, ended } = await opened(["--url", url]);
  expect(shown).toMatchObject({ url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as string, target: url });
  expect(shown.open).toMatch(/\/console\/\?token=[\w-]{32}$/);
  expect((await fetch(`${shown.url}/jobs`)).status).toBe(401);
  expect(shapeOf(shown)).toMatchSnapshot("console");
  expect(await (await fetch(`${shown.url}/jobs?state=FAILED`, session(shown))).json()).toEqual({ jobs: [] });
  expect(received.at(-1)?.headers.authorization).toMatch(/^AWS4-HMAC-SHA256 .*\/eu-west-1\/lambda\/aws4_request/);
  interrupt.abort();
  const { code, err } = await ended;
  expect(code).toBe(130);
  expect(err).toMatch(/^\d{4}-\S+Z refused a request: no-session$/m);
});

test("console hands a redirect on: its signature holds for one address only", async () => {
  const stage = createServer((request, response) =>
    request.url === "/" ? response.writeHead(302, { location: "/console/" }).end() : response.end("{}"),
  );
  const { shown } = await opened(["--url", `http://127.0.0.1:${await listening(stage)}`]);
  const answer = await fetch(shown.url, { redirect: "manual", ...session(shown) });
  expect([answer.status, answer.headers.get("location")]).toEqual([302, "/console/"]);
});

test("console finds a stage by the outputs of its stack, and ends with 0 on a signal", async () => {
  const api = await receiver(() => ({ status: 200, body: "{}" }));
  const target = `${api.url}/lambda-url/`;
  const body = stackWithApi("jobs-of-team-a", "prod", target);
  const stacks = await receiver(() => ({ status: 200, body }));
  const { shown, ended } = await opened(["--stage", "prod"], { AWS_ENDPOINT_URL_CLOUDFORMATION: stacks.url });
  expect(shown).toMatchObject({ target });
  expect(stacks.received[0]?.body).toContain("Action=DescribeStacks");
  process.emit("SIGTERM");
  expect(await ended).toMatchObject({ code: 0 });
});

test("following the log ends with 130 on Ctrl-C of the process", async () => {
  const { url, call } = await serveApi();
  const bin = fileURLToPath(new URL("../../bin/belfry.mjs", import.meta.url));
  const child = spawn(process.execPath, [bin, "events", "-f", "--url", url], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const line = once(child.stdout, "data");
  await expect
    .poll(() => Promise.race([line, call("POST", "/jobs", { kind: "ping" }).then(() => null)]), {
      timeout: 30_000,
      interval: 500,
    })
    .not.toBeNull();
  child.kill("SIGINT");
  expect(await once(child, "exit")).toEqual([130, null]);
});

test("a port that is taken is named, with what to do", async () => {
  signIn();
  const { url } = await receiver(() => ({ status: 200, body: "{}" }));
  const { port } = new URL(url);
  const { code, err } = await belfry(["console", "--url", url, "--port", port], { env });
  expect(code).toBe(1);
  expect(err).toContain(`error: port ${port} of this machine cannot be used (EADDRINUSE)\n  name another one`);
});

test("console says what it needs: a stage, a region, permission", async () => {
  signIn();
  expect(await belfry(["console"])).toMatchObject({ code: 2 });
  expect(await belfry(["console", "--url", "http://127.0.0.1:9"])).toMatchObject({ code: 2 });
  expect(await belfry(["console", "--port", "x", "--url", "http://127.0.0.1:9"])).toMatchObject({ code: 2 });
  const { url } = await receiver(() => ({ status: 403 }));
  const rights = expect.stringMatching(/lambda:InvokeFunctionUrl and lambda:InvokeFunction/) as unknown;
  expect(await belfry(["console", "--url", url], { env })).toMatchObject({ code: 4, err: rights });
  const stacks = await receiver(() => ({ status: 200, body: stackWithApi("belfry-prod", "prod", `${url}/`) }));
  const found = { ...env, AWS_ENDPOINT_URL_CLOUDFORMATION: stacks.url };
  expect(await belfry(["--stage", "prod", "jobs", "list"], { env: found })).toMatchObject({ code: 4, err: rights });
});
