import { expect, test } from "vitest";
import { twoAtATime } from "./beside.ts";
import { compare } from "./model.ts";

test("two calls at once answer and leave what the one does after the other", async () => {
  const reached = await compare(20_261_127, 6, { sequence: twoAtATime });
  expect(reached).toEqual(expect.arrayContaining(["job RUNNING", "job CANCELED", "run RUNNING", "time PLANNED"]));
});
