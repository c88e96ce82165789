import { createServer } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { freePort } from "../../src/local/process/free-port.ts";
import { startPostgres } from "../../src/local/services/postgres.ts";
import { freshFolder } from "./folder.ts";

vi.mock(import("../../src/local/process/free-port.ts"), { spy: true });

test("a server whose free port was taken before it listened takes another one", async () => {
  const folder = join(freshFolder(), "postgres");
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  onTestFinished(() => void other.close());
  const address = other.address();
  const taken = typeof address === "object" ? (address?.port ?? 0) : 0;
  vi.mocked(freePort).mockResolvedValueOnce(taken);
  const server = await startPostgres({ folder, port: 0 });
  await server.stop("immediate");
  expect(server.port).not.toBe(taken);
  await expect(startPostgres({ folder, port: taken })).rejects.toThrow(`Postgres did not start on port ${taken}`);
});
