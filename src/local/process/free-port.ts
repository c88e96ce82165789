import { once } from "node:events";
import { createServer } from "node:net";
import { setTimeout as wait } from "node:timers/promises";

/** A loopback port that is free now. Another program may take it before it is used: the caller must expect that. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the system gave no port");
  server.close();
  await once(server, "close");
  return address.port;
}

/** Whether a program still listens on this loopback port after `withinMs`, or the port may not be used. */
export async function isPortTaken(port: number, withinMs = 0): Promise<boolean> {
  for (let leftMs = withinMs; await isTakenNow(port); leftMs -= lookMs) {
    if (leftMs <= 0) return true;
    await wait(lookMs);
  }
  return false;
}

const lookMs = 50;

async function isTakenNow(port: number): Promise<boolean> {
  const server = createServer();
  const taken = Promise.race([once(server, "error").then(() => true), once(server, "listening").then(() => false)]);
  server.listen(port, "127.0.0.1");
  const result = await taken;
  if (!result) {
    server.close();
    await once(server, "close");
  }
  return result;
}
