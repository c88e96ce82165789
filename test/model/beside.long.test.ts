import { describe, expect, test } from "vitest";
import { planted, type SqlFault } from "../sim/sql/faults.ts";
import { twoAtATime } from "./beside.ts";
import { compare } from "./model.ts";

const seeds = [1, 2];

test.each(seeds)(
  "two calls at once answer and leave what the one does after the other, in 30 sequences of seed %i",
  async (seed) => {
    expect(await compare(seed, 30, { sequence: twoAtATime })).toContain("job SUCCESS");
  },
  600_000,
);

/** Lock clauses without which one call alone does the same as before. */
const unlocked: readonly SqlFault["edits"][number][] = [
  { of: "cancel", from: "    for no key update\n  ) locked", to: "  ) locked" },
  { of: "claim", from: "  for no key update of j", to: "" },
];

describe("a lock clause that is gone", () => {
  test.each(unlocked)(
    "from $of is found",
    async (edit) => {
      const plant = planted({ name: "unlocked", bug: "", without: [], edits: [edit] });
      await expect(compare(1, 300, { sequence: twoAtATime, plant })).rejects.toThrow(/Property failed/);
    },
    600_000,
  );
});
