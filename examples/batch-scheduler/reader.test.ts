import { createTestSystem } from "belfry/testing";
import { Pool } from "pg";
import { expect, inject, test } from "vitest";
import app from "./app.ts";
import { filePath, input } from "./input.ts";
import { fileReader } from "./reader.ts";
import { seed } from "./seed.ts";

test("what waits for the same time is tried in the order in which it was written", async () => {
  await using system = await createTestSystem({ apps: [app], stage: "demo", databaseUrl: inject("postgresUrl") });
  const pool = new Pool({ connectionString: system.databaseUrl, max: 1 });
  try {
    await seed(pool);
    const reader = fileReader(pool);
    const { items, hasMore } = await reader.findUnpublished(await reader.begin(), input.files);
    expect(items.map(({ path }) => path)).toEqual(items.map((_, index) => filePath(index + 1)));
    expect([items.length, hasMore]).toEqual([input.files, false]);
  } finally {
    await pool.end();
  }
});
