import { expect, test } from "vitest";
import { sql } from "../../src/core/define/query.ts";
import type { Tx } from "../../src/core/ports/ports.ts";
import { readPage } from "../../src/core/work/keyset-page.ts";

interface Asked {
  readonly text: string;
  readonly values: readonly unknown[] | undefined;
}

/** A transaction that answers these rows, or throws. */
function txOf(answer: () => readonly object[]) {
  const asked: Asked[] = [];
  const tx: Tx = {
    async query(text: string, values?: unknown[]) {
      asked.push({ text, values });
      const rows = answer() as Record<string, unknown>[];
      return { rows, rowCount: rows.length };
    },
  };
  return { tx, asked };
}

const query = sql`select * from app_user where zone = ${"Asia/Seoul"} and age > ${20}`;
const inner = "select * from app_user where zone = $1 and age > $2";
const page = { id: "open-due", by: "id", after: null as unknown, limit: 50 };

test("the first page has no cursor among its values, and a later one has it behind them", async () => {
  const { tx, asked } = txOf(() => []);
  await readPage(tx, query, page);
  await readPage(tx, query, { ...page, by: 'odd "name"', after: "u9" });
  await readPage(tx, sql`select 1 as id`, { ...page, after: "" });
  expect(asked.map(({ text, values }) => [text.replaceAll(/\s+/g, " "), values])).toEqual([
    [
      `select page.*, page."id"::text as belfry_cursor from (${inner}) as page order by page."id" fetch first $3 rows with ties`,
      ["Asia/Seoul", 20, 50],
    ],
    [
      `select page.*, page."odd ""name"""::text as belfry_cursor from (${inner}) as page where page."odd ""name""" > $4 order by page."odd ""name""" fetch first $3 rows with ties`,
      ["Asia/Seoul", 20, 50, "u9"],
    ],
    [
      'select page.*, page."id"::text as belfry_cursor from (select 1 as id) as page where page."id" > $2 order by page."id" fetch first $1 rows with ties',
      [50, ""],
    ],
  ]);
});

test.each<[string, readonly object[], readonly object[], string | null]>([
  ["no row", [], [], null],
  ["one row", [{ id: 1, belfry_cursor: "1" }], [{ id: 1 }], "1"],
  [
    "three rows",
    [
      { id: 1, belfry_cursor: "1" },
      { id: 2, belfry_cursor: "2" },
      { id: 3, belfry_cursor: "" },
    ],
    [{ id: 1 }, { id: 2 }, { id: 3 }],
    "",
  ],
])("of %s, the cursor is the last row's, which the rows do not show", async (_, found, rows, cursor) => {
  expect(await readPage(txOf(() => found).tx, query, page)).toStrictEqual({ rows, cursor });
});

test.each([
  ["one row", [{ id: null, belfry_cursor: null }]],
  [
    "the last of two rows",
    [
      { id: 1, belfry_cursor: "1" },
      { id: null, belfry_cursor: null },
    ],
  ],
])("a null in the column of %s is refused by the definition's name", async (_, found) => {
  await expect(readPage(txOf(() => found).tx, query, page)).rejects.toThrow(
    '"open-due": its query is paged by column "id", which is null in a row: leave such rows out',
  );
});

const thrown = async (cause: unknown): Promise<unknown> => {
  const { tx } = txOf(() => {
    throw cause;
  });
  return await readPage(tx, query, page).then(
    () => "nothing was thrown",
    (error: unknown) => error,
  );
};

test("a column that the query has not is named with what to do; any other fault is thrown as it came", async () => {
  const missing = new Error("column page.id does not exist");
  const named = await thrown(missing);
  expect(named).toEqual(
    new Error('"open-due": its query has no column "id": select it, or name another one as `by`', { cause: missing }),
  );
  expect((named as Error).cause).toBe(missing);
  for (const other of [
    new Error("column app_user.zone does not exist"),
    new Error("canceled: column page.id"),
    "column page.id does not exist",
    undefined,
  ])
    expect(await thrown(other)).toBe(other);
});
