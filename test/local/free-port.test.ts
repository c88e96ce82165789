import { once } from "node:events";
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { freePort, isPortTaken } from "../../src/local/process/free-port.ts";

test("a free port lies below those of connections, and a server can listen on it", async () => {
  const ports = await Promise.all(Array.from({ length: 50 }, freePort));
  expect(ports.filter((port) => port < 20_000 || port >= 32_768)).toEqual([]);
  const server = createServer().listen(ports[0], "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  expect(await isPortTaken(ports[0] ?? 0)).toBe(true);
});
