import { describe, expect, test } from "vitest";
import { storeContract } from "../../contract/store.ts";
import { linesOf, watchedServer } from "./run.ts";
import type { Effects } from "./watch.ts";

const open = watchedServer();

describe("the contract under the watcher", () => {
  const seen: Effects = new Map();
  storeContract("Postgres, watched", async (options) => {
    const { store, clock, close } = await open(seen, options);
    return { store, advance: (ms) => clock.advance(ms), close };
  });

  test("each statement answered and wrote, row for row, what contract.txt says", async () => {
    await expect(linesOf(seen)).toMatchFileSnapshot("./contract.txt");
  });
});
