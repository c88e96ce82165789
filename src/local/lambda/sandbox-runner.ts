/**
 * The inside of a sandbox: a process of its own that imports one function's file and runs one invocation at a time,
 * reused between invocations as Lambda does. It ends when the process that started it is gone.
 */
import { performance } from "node:perf_hooks";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { getHeapStatistics } from "node:v8";
import type { FromSandbox, FunctionModule, ToSandbox } from "./sandbox.ts";

// Ctrl-C in a terminal reaches every process of the group; the parent process decides the order in which they end.
process.on("SIGINT", () => {});
process.on("disconnect", () => process.exit(0));

const beatMs = 1_000;
const [file, functionName = "function"] = process.argv.slice(2);
if (file === undefined) throw new Error("usage: sandbox-runner FILE [NAME]");
const loaded = (await import(pathToFileURL(file).href)) as FunctionModule;
process.on("message", (message: ToSandbox) => void receive(message));
say({ say: "ready", heapLimitMb: Math.round(getHeapStatistics().heap_size_limit / 2 ** 20) });

async function receive(message: ToSandbox): Promise<void> {
  if (message.say === "acknowledged") return loaded.afterAcknowledge?.();
  const { id, event, timeoutMs } = message;
  const startedAt = performance.now();
  const beats = setInterval(() => say({ say: "beat" }), beatMs);
  try {
    const answer = await loaded.handler(event, {
      awsRequestId: `${process.pid}-${id}`,
      functionName,
      getRemainingTimeInMillis: () => Math.max(0, timeoutMs - (performance.now() - startedAt)),
    });
    say({ say: "answer", id, answer: answer ?? null });
  } catch (error) {
    say({ say: "threw", id, error: inspect(error) });
  } finally {
    clearInterval(beats);
  }
}

function say(message: FromSandbox): void {
  process.send?.(message);
}
