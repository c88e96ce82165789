import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { text as read } from "node:stream/consumers";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import type { LocalEvent } from "../../src/local/system.ts";
import { startLocal } from "../../src/local/system.ts";
import { freePort } from "../../src/local/process/free-port.ts";
import { freshFolder } from "./folder.ts";
import { environment, slowMs, storeOf } from "./greeting-system.ts";
import { until } from "./until.ts";

const bin = fileURLToPath(new URL("../../bin/belfry.mjs", import.meta.url));
const core = new URL("../../src/compose/index.ts", import.meta.url).href;
const text = `import { defineApp, defineJob } from ${JSON.stringify(core)};
const retry: { maxAttempts: number } = { maxAttempts: 1 };
const look = defineJob({
  id: "look",
  retry,
  lease: "5s",
  timeout: "4s",
  run() {
    return { seen: "here" };
  },
});
const fail = defineJob({
  id: "fail",
  run() {
    throw new Error("down");
  },
});
export default [defineApp({ name: "looks", jobs: [look, fail] })];
`;
const lineNumber = text.split("\n").findIndex((line) => line.includes("seen"));

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly callFrames?: readonly { readonly location: { readonly lineNumber: number } }[] };
}

/** A client of the inspector protocol, as an editor is. */
async function attach(port: number) {
  const [target] = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as {
    webSocketDebuggerUrl: string;
  }[];
  const socket = new WebSocket(target?.webSocketDebuggerUrl ?? "");
  const said: Message[] = [];
  socket.addEventListener("message", ({ data }) => void said.push(JSON.parse(String(data)) as Message));
  await new Promise((resolve) => socket.addEventListener("open", resolve, { once: true }));
  onTestFinished(() => socket.close());
  let id = 0;
  const call = async (method: string, params: object = {}): Promise<void> => {
    id += 1;
    const own = id;
    socket.send(JSON.stringify({ id: own, method, params }));
    await until(method, () => said.some((message) => message.id === own));
  };
  return { call, stop: () => until("a stop", () => said.find(({ method }) => method === "Debugger.paused"), slowMs) };
}

test(
  "a handler stands at a breakpoint beyond its lease and its timeout, and its attempt goes on and succeeds",
  async () => {
    const folder = freshFolder();
    const file = join(folder, "app.ts");
    writeFileSync(file, text);
    const events: LocalEvent[] = [];
    const system = await startLocal({
      home: join(folder, "home"),
      apps: [pathToFileURL(file)],
      environment,
      postgresSettings: { fsync: "off" },
      inspectPort: await freePort(),
      onEvent: (event) => void events.push(event),
    });
    onTestFinished(() => system.stop());
    const store = storeOf(system.urls.database);
    const find = <I extends LocalEvent["is"]>(is: I) =>
      events.find((event): event is Extract<LocalEvent, { is: I }> => event.is === is);
    const { port } = await until("a debugger's port", () => find("debugger"), slowMs);
    const client = await until("the worker to listen", () => attach(port).catch(() => null), slowMs);
    await client.call("Debugger.enable");
    const url = pathToFileURL(file).href;
    await client.call("Debugger.setBreakpointByUrl", { url, lineNumber });

    await fetch(`${system.urls.api}/jobs`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ kind: "look" }),
    });
    const paused = await client.stop();
    expect(paused.params?.callFrames?.[0]?.location.lineNumber, "in the line as it was written").toBe(lineNumber);
    const stoppedAt = await store.now();
    await until("more than its lease and its timeout", async () => (await store.now()) > stoppedAt + 12_000, slowMs);
    expect(find("still"), "the terminal says so").toMatchObject({ from: "worker default" });
    expect(await store.jobs({ limit: 1 })).toMatchObject([{ state: "RUNNING", attempt: 1 }]);
    await client.call("Debugger.resume");
    const [job] = await until("the end", async () => {
      const found = await store.jobs({ states: ["SUCCESS", "FAILED", "RETRY_WAIT"] });
      return found.length > 0 ? found : null;
    });
    expect(job).toMatchObject({ state: "SUCCESS", attempt: 1, result: { seen: "here" } });

    // Not in one go: this process serves the system's address.
    const belfry = async (...args: readonly string[]) => {
      const env = { ...environment, BELFRY_HOME: system.home };
      const child = spawn(process.execPath, [bin, ...args, "--json"], { env, stdio: ["ignore", "pipe", "inherit"] });
      const [said, [status]] = await Promise.all([read(child.stdout), once(child, "exit")]);
      return { status: status as number, answer: JSON.parse(said) as { id: string } };
    };
    const { id } = (await belfry("jobs", "enqueue", "look", "--delay", "1h")).answer;
    const here = await belfry("jobs", "run", id, "--local");
    expect(here).toMatchObject({ status: 0, answer: { state: "SUCCESS", attempt: 1, result: { seen: "here" } } });
    const again = await belfry("jobs", "run", id, "--local");
    expect(again).toMatchObject({ status: 5, answer: { error: { code: "not-run" } } });
    const failing = (await belfry("jobs", "enqueue", "fail", "--delay", "1h")).answer;
    const failed = await belfry("jobs", "run", failing.id, "--local");
    expect(failed).toMatchObject({ status: 7, answer: { attempts: [{ error: { message: "down" } }] } });
  },
  4 * slowMs,
);
