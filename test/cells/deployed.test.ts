import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { handler } from "../../functions/migrate.ts";
import { listenOnLoopback } from "../../src/local/services/server.ts";
import { belfry } from "../cli/harness.ts";
import { freshDatabase } from "../support/database.ts";

const migration = "arn:aws:lambda:eu-west-1:123456789012:function:prod-b-MigrationMigrate";
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "belfry-cells-"));
  vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
  vi.stubEnv("AWS_REGION", "eu-west-1");
  vi.stubEnv("BELFRY_STAGE", "emulator");
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

/** Answers as Lambda does when the function of the release is invoked. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const isOurs = request.url === `/2015-03-31/functions/${encodeURIComponent(migration)}/invocations`;
    const isSigned = request.headers.authorization?.includes("/eu-west-1/lambda/aws4_request") === true;
    if (!isOurs || !isSigned) return void response.writeHead(403).end(`{"Message":"not authorized"}`);
    response.end(JSON.stringify(await handler(JSON.parse(await text(request)) as { CellMap: null })));
  } catch (error) {
    response
      .writeHead(200, { "x-amz-function-error": "Unhandled" })
      .end(JSON.stringify({ errorMessage: String(error) }));
  }
}

test("the map of a deployed cell is read and changed by its migration function, beside one that has an address", async () => {
  const [a, b] = [await freshDatabase({ own: true }), await freshDatabase({ own: true })];
  vi.stubEnv("DATABASE_URL", b.url);
  const lambda = createServer((request, response) => void answer(request, response));
  const port = await listenOnLoopback(lambda, 0, "lambda");
  onTestFinished(async () => {
    lambda.closeAllConnections();
    lambda.close();
    await a.close();
    await b.close();
  });
  const file = join(folder, "cells.json");
  const places = {
    a: { number: 0, stage: "prod-a", databaseUrl: a.url },
    b: { number: 1, stage: "prod-b", function: migration },
  };
  writeFileSync(file, JSON.stringify(places));
  const env = { BELFRY_CELLS: file, AWS_ENDPOINT_URL_LAMBDA: `http://127.0.0.1:${port}` };
  const cells = async (...args: string[]) => await belfry(["cells", ...args, "--json"], { env });

  expect((await cells("init")).code).toBe(0);
  expect((await cells("move", "--from", "00000000", "--to", "0000ffff", "--cell", "b")).code).toBe(0);
  const maps = await Promise.all([a, b].map(({ pool }) => pool.query("select version, map from belfry.cell_map")));
  expect(maps[0]?.rows).toEqual(maps[1]?.rows);
  expect(maps[1]?.rows).toMatchObject([
    { version: 3, map: { ranges: [{ to: "0000ffff", cell: "b", was: ["a"] }, {}, {}] } },
  ]);
  expect((await cells("show")).code).toBe(0);

  vi.stubEnv("DATABASE_URL", "postgresql://127.0.0.1:1/gone");
  const away = await belfry(["cells", "show"], { env });
  expect([away.code, away.out]).toEqual([1, expect.stringMatching(/b\s+1\s+prod-b\s+away/)]);
});

test("a file that names neither a database nor a function of a cell, or both, is refused", async () => {
  const file = join(folder, "cells.json");
  for (const more of [{}, { databaseUrl: "postgresql://x/y", function: migration }]) {
    writeFileSync(file, JSON.stringify({ a: { number: 0, stage: "prod-a", ...more } }));
    const { code, err } = await belfry(["cells", "show", "--cells", file]);
    expect([code, err]).toEqual([2, expect.stringContaining("a: must have databaseUrl or function, not both")]);
  }
});
