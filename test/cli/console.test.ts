import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { receiver } from "../publish/sink.ts";
import { belfry, serveApi } from "./harness.ts";

const bin = fileURLToPath(new URL("../../bin/belfry.mjs", import.meta.url));
const credentials = { AWS_ACCESS_KEY_ID: "AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY: "secret", AWS_REGION: "eu-west-1" };

function started(args: readonly string[], env: NodeJS.ProcessEnv): ChildProcessByStdio<null, Readable, null> {
  const child = spawn(process.execPath, [bin, ...args], {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

async function firstLine(child: { stdout: Readable }): Promise<string> {
  const [chunk] = (await once(child.stdout, "data")) as [Buffer];
  return chunk.toString("utf8");
}

test("console signs what it passes on, shows its address, and ends with 130 on Ctrl-C", async () => {
  const { url, received } = await receiver(() => ({ status: 200, body: '{"jobs":[]}' }));
  const child = started(["console", "--json", "--url", url], credentials);
  const shown = JSON.parse(await firstLine(child)) as { url: string; target: string };
  expect(shown).toEqual({ url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as string, target: url });
  expect(await (await fetch(`${shown.url}/jobs?state=FAILED`)).json()).toEqual({ jobs: [] });
  expect(received.at(-1)?.headers.authorization).toMatch(/^AWS4-HMAC-SHA256 .*\/eu-west-1\/lambda\/aws4_request/);
  child.kill("SIGINT");
  expect(await once(child, "exit")).toEqual([130, null]);
}, 60_000);

test("console hands a redirect on: its signature holds for one address only", async () => {
  const stage = createServer((request, response) =>
    request.url === "/" ? response.writeHead(302, { location: "/console/" }).end() : response.end("{}"),
  ).listen(0, "127.0.0.1");
  await once(stage, "listening");
  onTestFinished(() => stage.closeAllConnections());
  const { port } = stage.address() as AddressInfo;
  const child = started(["console", "--json", "--url", `http://127.0.0.1:${port}`], credentials);
  const shown = JSON.parse(await firstLine(child)) as { url: string };
  const answer = await fetch(shown.url, { redirect: "manual" });
  expect([answer.status, answer.headers.get("location")]).toEqual([302, "/console/"]);
  child.kill("SIGINT");
  await once(child, "exit");
}, 60_000);

test("console finds a stage by the outputs of its stack", async () => {
  const api = await receiver(() => ({ status: 200, body: "{}" }));
  const target = `${api.url}/lambda-url/`;
  const body = `<Outputs><member><OutputValue>${target}</OutputValue></member></Outputs>`;
  const stacks = await receiver(() => ({ status: 200, body }));
  const env = { ...credentials, AWS_ENDPOINT_URL_CLOUDFORMATION: stacks.url };
  const child = started(["console", "--json", "--stage", "prod"], env);
  expect(JSON.parse(await firstLine(child))).toMatchObject({ target });
  expect(stacks.received[0]?.body).toContain("StackName=belfry-prod");
  child.kill("SIGINT");
  expect(await once(child, "exit")).toEqual([130, null]);
}, 60_000);

test("following the log ends with 130 on Ctrl-C", async () => {
  const { url, call } = await serveApi();
  const child = started(["logs", "-f", "--url", url], {});
  const line = firstLine(child);
  for (let n = 0; child.exitCode === null && n < 1; n += 1) {
    await expect
      .poll(() => Promise.race([line, call("POST", "/jobs", { kind: "ping" }).then(() => null)]), {
        timeout: 30_000,
        interval: 500,
      })
      .not.toBeNull();
  }
  child.kill("SIGINT");
  expect(await once(child, "exit")).toEqual([130, null]);
}, 60_000);

test("a port that is taken is named, with what to do", async () => {
  const { url } = await receiver(() => ({ status: 200, body: "{}" }));
  const { port } = new URL(url);
  const child = spawn(process.execPath, [bin, "console", "--url", url, "--port", port], {
    env: { PATH: process.env["PATH"], ...credentials },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString("utf8")));
  expect(await once(child, "close")).toEqual([1, null]);
  expect(said).toContain(`error: port ${port} of this machine cannot be used (EADDRINUSE)\n  name another one`);
}, 60_000);

test("console says what it needs: a stage, a region, permission, a stage that is there", async () => {
  expect(await belfry(["console"])).toMatchObject({ code: 2 });
  expect(await belfry(["console", "--url", "http://127.0.0.1:9"])).toMatchObject({ code: 2 });
  expect(await belfry(["console", "--port", "x", "--url", "http://127.0.0.1:9"])).toMatchObject({ code: 2 });
  const { url } = await receiver(() => ({ status: 403 }));
  const child = started(["console", "--url", url], credentials);
  expect(await once(child, "exit")).toEqual([4, null]);
  const away = started(["console", "--url", "http://127.0.0.1:9"], credentials);
  expect(await once(away, "exit")).toEqual([1, null]);
}, 60_000);
