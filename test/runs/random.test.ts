import { describe, expect, test } from "vitest";
import { testDatabase } from "../support/database.ts";
import { referenceStore } from "../support/reference-store.ts";
import { graphDiffers } from "./random-graph.ts";

/** More by hand: `GRAPHS=10000 GRAPHS_POSTGRES=300 npx vitest run test/runs/random.test.ts`. */
const count = Number(process.env["GRAPHS"] ?? 400);
const countOnPostgres = Number(process.env["GRAPHS_POSTGRES"] ?? 60);

describe("random graphs end as an independent oracle says", () => {
  test("on the reference store", { timeout: 600_000 }, async () => {
    for (let seed = 1; seed <= count; seed += 1) {
      const store = referenceStore(() => 1_900_000_000_000);
      expect(await graphDiffers(store, seed, seed % 3 === 0 ? "continue" : "skip-downstream"), `seed ${seed}`).toEqual(
        [],
      );
    }
  });

  test("on Postgres", { timeout: 600_000 }, async () => {
    const { store } = await testDatabase();
    for (let seed = 1; seed <= countOnPostgres; seed += 1) {
      expect(await graphDiffers(store, seed, seed % 3 === 0 ? "continue" : "skip-downstream"), `seed ${seed}`).toEqual(
        [],
      );
    }
  });
});
