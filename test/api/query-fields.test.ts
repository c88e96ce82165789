import { expect, test } from "vitest";
import type { z } from "zod";
import { durationUpTo, isTrue, limit, maybeWhole, text } from "../../src/api/query-fields.ts";

/** What a field reads, or its rule. */
const read = (field: z.ZodType, sent: unknown): unknown => {
  const { success, data, error } = field.safeParse(sent, { reportInput: true });
  return success
    ? data
    : error.issues.map(({ message, input }) => `${message}, not ${JSON.stringify(input)}`).join("; ");
};

test.each<[unknown, unknown, () => z.ZodType]>([
  ["a", "a", () => text(3)],
  ["abc", "abc", () => text(3)],
  ["abcd", 'must have at most 3 characters, not "abcd"', () => text(3)],
  ["", 'must not be empty, not ""', () => text(3)],
  [5, "must be a text, not 5", () => text(3)],
  ["0s", 0, () => durationUpTo(90_000, "")],
  ["90s", 90_000, () => durationUpTo(90_000, "")],
  ["90001ms", 'must be at most 1m30s, not "90001ms"', () => durationUpTo(90_000, "")],
  [
    "soon",
    'must be a number and a unit: "500ms", "30s", "10m", "2h" or "1d", not "soon"',
    () => durationUpTo(90_000, ""),
  ],
  [5, "must be a text, not 5", () => durationUpTo(90_000, "")],
  ["500", 500, () => limit(500, 50)],
  ["501", "must be at most 500, not 501", () => limit(500, 50)],
  ["0", 'must be a whole number from 1 to 500, not "0"', () => limit(500, 50)],
  ["true", true, () => isTrue("")],
  ["false", false, () => isTrue("")],
  [true, true, () => isTrue("")],
  [false, false, () => isTrue("")],
  ["yes", 'must be true or false, not "yes"', () => isTrue("")],
])("field %#: %s is read", (sent, value, field) => {
  expect(read(field(), sent)).toEqual(value);
});

test("a field is described as a client sends it", () => {
  expect(limit(500, 50).meta()).toMatchObject({ as: { type: "integer", minimum: 1, maximum: 500, default: 50 } });
  expect(maybeWhole(9, "Most.").meta()).toMatchObject({
    description: "Most.",
    as: { type: "integer", minimum: 1, maximum: 9 },
  });
  expect(text(9, "Its name.").meta()).toMatchObject({ description: "Its name." });
  expect(text(9).meta()?.description).toBeUndefined();
});
