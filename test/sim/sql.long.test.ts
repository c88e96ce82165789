import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { simulate } from "./simulate.ts";
import { planted, sqlFaultNamed, sqlFaults } from "./sql/faults.ts";
import { openSqlServer, type SqlServer } from "./sql/server.ts";

/** A seed takes some seconds, and many times that beside other work. */
const simulatedMs = 300_000;

let server: SqlServer;
beforeAll(async () => {
  server = await openSqlServer();
});
afterAll(() => server.close());

describe("the simulation on a real Postgres", () => {
  test(
    "the real core and its statements keep every promise",
    async () => {
      for (const seed of [1, 2, 4]) {
        expect({ seed, ...(await simulate(seed, { open: server.open({}) })) }).toMatchObject({ seed, violations: [] });
      }
    },
    simulatedMs,
  );

  test(
    "a seed replays its run to the byte, whatever ran before it",
    async () => {
      const traceOf = async (seed: number): Promise<readonly string[]> => {
        const lines: string[] = [];
        await simulate(seed, { open: server.open({}), trace: (line) => lines.push(line) });
        return lines;
      };
      const first = await traceOf(3);
      expect(first.length).toBeGreaterThan(200);
      expect(await traceOf(3)).toEqual(first);
    },
    simulatedMs,
  );
});

describe("planted faults in statements", () => {
  test("there are at least ten, each with a name and a sentence of its own", () => {
    expect(sqlFaults.length).toBeGreaterThanOrEqual(10);
    expect(new Set(sqlFaults.map(({ name }) => name)).size).toBe(sqlFaults.length);
    expect(new Set(sqlFaults.map(({ bug }) => bug)).size).toBe(sqlFaults.length);
  });

  test(
    "a claim that does not look at the due time is found",
    async () => {
      const open = server.open({ plant: planted(sqlFaultNamed("not-yet-due")) });
      expect((await simulate(2, { open })).violations).not.toEqual([]);
    },
    simulatedMs,
  );

  test("a fault that changes nothing is refused, and so is one that Postgres cannot read", async () => {
    const gone = { name: "gone", bug: "", without: [], edits: [{ of: "claim", from: "no such text", to: "" }] };
    const broken = {
      name: "broken",
      bug: "",
      without: [],
      edits: [{ of: "claim", from: "returning j.event_id, j.id", to: "returning j.event_id, from" }],
    };
    await expect(simulate(1, { open: server.open({ plant: planted(gone) }) })).rejects.toThrow(
      /"gone": claim has no text/,
    );
    await expect(simulate(1, { open: server.open({ plant: planted(broken) }) })).rejects.toThrow(/syntax error/);
  });
});
