import { createServer } from "node:net";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { freePort } from "../../src/local/process/free-port.ts";
import { startPostgres } from "../../src/local/services/postgres.ts";
import { freshFolder } from "./folder.ts";
import { listening } from "../support/listening.ts";

vi.mock(import("../../src/local/process/free-port.ts"), { spy: true });

test("a server whose free port was taken before it listened takes another one", async () => {
  const folder = join(freshFolder(), "postgres");
  const taken = await listening(createServer());
  vi.mocked(freePort).mockResolvedValueOnce(taken);
  const server = await startPostgres({ folder, port: 0 });
  await server.stop("immediate");
  expect(server.port).not.toBe(taken);
  await expect(startPostgres({ folder, port: taken })).rejects.toThrow(`Postgres did not start on port ${taken}`);
});
