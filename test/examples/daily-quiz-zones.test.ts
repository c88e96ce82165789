import { expect, test } from "vitest";
import { leaves, neverSubscribed, treatmentOf, usersDefault, zoneOf } from "../../examples/daily-quiz/input.ts";
import { zones } from "../../examples/daily-quiz/quiz.ts";

const users = Array.from({ length: usersDefault }, (_, index) => index + 1).filter((user) => !neverSubscribed(user));

test.each(zones)("the quiz of %s meets every kind of answer, and people who leave", (zone) => {
  const own = users.filter((user) => zoneOf(user) === zone);
  const all = new Set(users.map((user) => treatmentOf(user, { mood: "mixed" })));
  expect(all.size).toBe(8);
  expect(new Set(own.map((user) => treatmentOf(user, { mood: "mixed" })))).toEqual(all);
  expect(own.some(leaves)).toBe(true);
});
