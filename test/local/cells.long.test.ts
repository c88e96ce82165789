import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { startCells } from "../../src/local/cells.ts";
import { freshFolder } from "./folder.ts";
import { slowMs } from "./greeting-system.ts";
import { until } from "./until.ts";

interface Row {
  readonly id: string;
  readonly cell: string;
  readonly key: string;
}
interface Page {
  readonly jobs: readonly Row[];
  readonly nextCursor: string | null;
  readonly cellsAway: readonly object[];
}

const project = fileURLToPath(new URL("../../belfry.config.ts", import.meta.url));
const jobs = 200;

test(
  "two cells behind one front do every job once; one that is killed takes nothing from the other",
  async () => {
    const cells = await startCells({ home: freshFolder(), project, stage: "dev", count: 2, port: 0 });
    onTestFinished(() => cells.stop());
    const ask = (path: string, body?: object): Promise<Response> =>
      fetch(`${cells.url}${path}`, {
        ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
        headers: { "content-type": "application/json" },
      });
    const read = async <T>(path: string): Promise<T> => (await (await ask(path)).json()) as T;
    const listed = async (query: string): Promise<readonly Row[]> => {
      const rows: Row[] = [];
      let next: string | null = "";
      while (next !== null) {
        const page: Page = await read(`/jobs?${query}&limit=30${next === "" ? "" : `&cursor=${next}`}`);
        rows.push(...page.jobs);
        next = page.nextCursor;
      }
      return rows;
    };

    const keys = Array.from({ length: jobs }, (_, index) => `k${index}`);
    const created: { id: string; key: string }[] = [];
    for (const key of keys) {
      const answer = await ask("/jobs", { kind: "hello", key });
      expect(answer.status).toBe(201);
      created.push((await answer.json()) as { id: string; key: string });
    }
    expect((await ask("/jobs", { kind: "hello", key: "k7" })).status).toBe(200);

    const mine = (rows: readonly Row[]): readonly Row[] => rows.filter(({ key }) => keys.includes(key));
    const ended = await until(
      "the end of every job",
      async () => {
        const rows = mine(await listed("state=SUCCESS"));
        return rows.length === jobs ? rows : null;
      },
      slowMs,
    );
    expect(ended.map(({ id }) => id).toSorted()).toEqual(created.map(({ id }) => id).toSorted());
    expect(new Set(ended.map(({ cell }) => cell))).toEqual(new Set(["a", "b"]));
    for (const { id, cell } of ended.slice(0, 5)) {
      const one = await read<{ id: string; state: string }>(`/jobs/${id}`);
      expect([one.id, one.state, Number(BigInt(id) % 64n)]).toEqual([id, "SUCCESS", cell === "a" ? 0 : 1]);
    }
    expect(await read("/summary?minutes=5")).toMatchObject({ cellsAway: [], lastFailures: [] });

    // Each schedule of the code is in one cell, and so are its times.
    const { schedules } = await read<{ schedules: readonly { id: string; cell: string }[] }>("/schedules");
    expect(schedules.length).toBeGreaterThan(0);
    expect(new Set(schedules.map(({ id }) => id)).size).toBe(schedules.length);
    expect(new Set(schedules.map(({ cell }) => cell))).toEqual(new Set(["a"]));
    for (const { id } of schedules)
      expect(await read(`/schedules/${id}/occurrences?cell=b`)).toMatchObject({ status: 404 });

    await cells.systems.get("b")?.kill();
    const [here, there] = ["a", "b"].map((name) => ended.find(({ cell }) => cell === name));
    expect((await ask("/jobs", { kind: "hello", key: here?.key })).status).toBe(200);
    const away = await ask("/jobs", { kind: "hello", key: there?.key });
    expect([away.status, await away.json()]).toMatchObject([503, { code: "cell-away", cell: "b" }]);
    const page: Page = await read("/jobs?limit=500");
    expect(page.cellsAway).toEqual([{ cell: "b", since: expect.stringMatching(/Z$/) }]);
    expect(mine(page.jobs).length).toBe(ended.filter(({ cell }) => cell === "a").length);
    expect(new Set(page.jobs.map(({ cell }) => cell))).toEqual(new Set(["a"]));
    expect(await read("/upcoming")).toMatchObject({ cellsAway: [{ cell: "b" }] });
    expect(await read("/metrics")).toMatchObject({ status: 501, code: "ask-the-cell" });
    expect((await ask("/metrics?cell=a")).status).toBe(200);
  },
  6 * slowMs,
);
