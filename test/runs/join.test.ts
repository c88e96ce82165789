import { expect, test } from "vitest";
import { joinParts, type JoinRule, joinRules, joinVerdict } from "../../src/machine/join.ts";
import { testDatabase } from "../support/database.ts";

test("the join rule in SQL is the one in the core, for every rule and every small count", async () => {
  const { pool } = await testDatabase();
  const counts = [0, 1, 2];
  const rules: readonly JoinRule[] = [...joinRules, { atLeast: 2 }, { atLeast: 3 }];
  const cases = rules.flatMap((rule) =>
    counts.flatMap((open) => counts.flatMap((ok) => counts.map((bad) => ({ rule, open, ok, bad })))),
  );
  const { rows } = await pool.query<{ verdict: string }>(
    `select belfry.join_verdict(rule, open, ok - least + 1, bad) as verdict
     from unnest($1::belfry.join_rule[], $2::int[], $3::int[], $4::int[], $5::int[]) with ordinality as v (rule, open, ok, bad, least, n) order by n`,
    [
      cases.map((one) => joinParts(one.rule).rule),
      cases.map((one) => one.open),
      cases.map((one) => one.ok),
      cases.map((one) => one.bad),
      cases.map((one) => joinParts(one.rule).least),
    ],
  );
  expect(rows.map((row) => row.verdict)).toEqual(cases.map((one) => joinVerdict(one.rule, one)));
});
