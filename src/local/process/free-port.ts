import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { setTimeout as wait } from "node:timers/promises";

/** Below those that systems give to connections (Linux from 32,768, others from 49,152) and above well-known services. */
const ports = { from: 20_000, below: 32_768 };
const triesMax = 100;

/**
 * A loopback port that is free now, for a server that is to come back on it after a restart: while it is down, no
 * connection is given its port, not even one that tries to reach it. Another server may take it: the caller must expect that.
 * @throws Error when none of a hundred may be listened on.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const port = randomInt(ports.from, ports.below);
    if (!(await isTakenNow(port))) return port;
  }
  throw new Error(
    `none of ${triesMax} ports from ${ports.from} to ${ports.below - 1} may be listened on: end what holds them`,
  );
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
