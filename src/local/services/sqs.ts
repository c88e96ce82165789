import { buildApp, polledQueue } from "./local-packages.ts";
import { onlyPrograms, type LocalServer, portProblem } from "./server.ts";

/** It looks that often for delayed messages of a queue that is waited for; its own 20 ms cost as much as a pass. */
const lookMs = 100;
if (polledQueue !== null)
  polledQueue.startPollTimerIfNeeded = function look() {
    this.pollTimer ??= setInterval(() => this.processTimers(), lookMs);
  };

/**
 * The SQS API on loopback, in memory: its messages end with the process, and the next start dispatches
 * their rows again. (Its disk mode loses a message whose visibility is set to 0.)
 */
export async function startSqs(options: { port?: number } = {}): Promise<LocalServer> {
  const port = options.port ?? 0;
  const app = buildApp({ logger: false });
  try {
    await app.listen({ port, host: "127.0.0.1" });
  } catch (cause) {
    throw portProblem(cause, port, "the SQS API");
  }
  onlyPrograms(app.server);
  const address = app.server.address();
  if (address === null || typeof address === "string") throw new Error("the SQS API has no port");
  return { url: `http://127.0.0.1:${address.port}`, port: address.port, stop: () => app.close() };
}
