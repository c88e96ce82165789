/** The people who switch notifications off in between: their process hides what the database refuses it. */
import { createTestSystem } from "belfry/testing";
import { expect, inject, onTestFinished, test } from "vitest";
import app from "../../examples/daily-quiz/app.ts";
import { leaves } from "../../examples/daily-quiz/input.ts";
import { seed } from "../../examples/daily-quiz/seed.ts";
import { readLedger } from "../../examples/fake/ledger.ts";
import { startFake } from "../../examples/fake/start.ts";
import { until } from "../proof/until.ts";

const users = 120;

test("people leave when their target is written already", async () => {
  const at = "2031-06-01T22:49:00Z";
  await using system = await createTestSystem({ apps: [app], stage: "demo", at, databaseUrl: inject("postgresUrl") });
  await seed(system.database, users);
  await system.advance("61s");
  const settings = { DATABASE_URL: system.databaseUrl, AWS_REGION: "us-east-1", QUIZ_USERS: String(users) };
  const people = await startFake(new URL("../../examples/daily-quiz/fakes/people.ts", import.meta.url), settings);
  onTestFinished(() => people.stop());
  const leavers = Array.from({ length: users }, (_, index) => index + 1).filter(leaves);
  expect(leavers.length).toBeGreaterThan(0);
  const left = () => readLedger(people.home, "daily-quiz-people").map(({ user }) => user);
  await until("the people to leave", 30_000, async () => left().length === leavers.length);
  expect(new Set(left())).toEqual(new Set(leavers));
});
